/** Defaults of settings that the frontier needs too: a crawl that no node has joined yet has them. */
export const FIRST_CONCURRENCY = 8;
export const FIRST_NODE_TIMEOUT_S = 30;
export const FIRST_FAILED_LIMIT = 100_000;
