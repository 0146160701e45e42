/**
 * What `bench/`, `scripts/` and the child processes of the tests use of the build besides the public API. It is not published,
 * and shares its modules with the other entry points.
 */
export { createDownloader } from './downloader/downloader.js';
export { openFrontier } from './frontier/choose-engine.js';
export { openEmbedded } from './frontier/embedded/embedded-frontier.js';
export { openDatabase } from './frontier/embedded/file/database.js';
export { noEffects, PUSH_CHUNK } from './frontier/frontier.js';
export { fingerprint } from './http/message/fingerprint.js';
export { toFrontierRequest } from './http/message/record/request-codec.js';
export { Request } from './http/message/request.js';
export { silentLogger } from './log.js';
export { linked, linkRules } from './node/links/filter-links.js';
export { SeenLinks } from './node/links/seen-links.js';
export { openFeedWriter } from './pipelines/feeds/feed-writer.js';
export { discoverSpiders, problemsOf } from './spider/loading/discover.js';
