/**
 * Limits and numbers of the rules that both engines obey. No engine writes one of them itself: the Lua library of the Redis engine
 * is given all of them when it is put together (`redis/connection/library.ts`), those included that other folders share.
 */
import { FIRST_NODE_TIMEOUT_S } from '../../settings/first-tunables.js';

export { MAX_COOKIES_PER_DOMAIN, MAX_COOKIES_PER_JAR } from '../../http/cookies/stored-cookie.js';
export { FIRST_CONCURRENCY, FIRST_FAILED_LIMIT } from '../../settings/first-tunables.js';
export { MAX_STAT_NAMES } from '../../stats/stat-change.js';
export { LEAST_ROBOTS_REST_MS, MAX_ROBOTS_MS, MOST_ROBOTS_REST_MS } from '../robots/robots-state.js';

/**
 * Further requests of a page are pushed before its settle, in chunks of `PUSH_CHUNK`: a settle is one step of the store, which
 * serves nobody else meanwhile. They stay accepted even if the lease is lost then.
 */
export const MAX_SETTLE_REQUESTS = 2_000;
export const PUSH_CHUNK = 1_000;
export const MAX_SETTLE_ITEMS = 10_000;
export const MAX_SETTLE_BYTES = 8 * 1024 * 1024;
/** A larger seed is bad. The record of a request has the same limit. */
export const MAX_SEED_BYTES = 1024 * 1024;
/** Requests per seed (as many as URLs in a sitemap). Bounded, since they are accepted in one step. */
export const MAX_SEED_REQUESTS = 50_000;
/** Bytes of the records of all requests of a seed. */
export const MAX_SEED_REQUEST_BYTES = 64 * 1024 * 1024;

/** Pages with an ignored status that a crawl lists, and the length of their URLs: a longer one is cut. */
export const MAX_IGNORED = 1_000;
export const MAX_IGNORED_URL_CHARS = 2_083;

export const FIRST_NODE_TIMEOUT_MS = FIRST_NODE_TIMEOUT_S * 1_000;

/** Requests that one lease brings at most, however many a node asks for. */
export const MAX_LEASES = 1_000;
/** Requests without a record that one lease drops at most, and then asks the node to call again. */
export const MAX_LOST_AT_ONCE = 1_000;
/** Delayed requests that one lease makes pending, and domains that it makes ready, at most. */
export const PROMOTED_AT_ONCE = 200;
export const MAX_WAIT_MS = 1_000;
/** The furthest that the instant of a domain may be ahead: a jump of the store's clock must block nothing for longer. */
export const FURTHEST_MS = 24 * 60 * 60 * 1000;
/** Crashes after which a request is failed as `crashed`. */
export const MAX_CRASHES = 3;
/** The same while nodes die that no request explains: then somebody kills them from outside. */
export const MAX_CRASHES_AMONG_KILLS = 5;
/**
 * So long a node takes nothing else at a suspect: until what it held before is over, and while it processes the suspect. What takes
 * longer is a slow download, which must not stop a crawl.
 */
export const ALONE_MS = 5_000;
/**
 * Somebody kills nodes from outside while two deaths that no suspect explains lie within so many node timeouts, or so many ms
 * if that is longer. A request that kills its nodes explains one of them, its first.
 */
export const KILLS_WITHIN = 10;
export const KILLS_WITHIN_MS = 60_000;

/** A hungry node (docs/internals/leasing.md) polls every 25 ms × number of nodes, so the total rate stays constant. */
export const HUNGRY_POLL_MS = 25;
/** It counts as hungry for two of its polls, and for so long at least. */
export const HUNGRY_MS = 300;
/** When a node that stood back for a hungry one asks again. */
export const STAND_BACK_MS = 30;
/** Suspects that one lease looks at, for one whose domain may be leased from. */
export const SUSPECTS_READ = 100;

/** Expired fingerprints that a batch of accepted requests deletes on Redis: so many, and two for each new one. */
export const PURGED_AT_ONCE = 100;

/** Sets of cookies whose removal is remembered, so that nodes learn of it. */
export const MAX_REMOVED_COOKIES = 1_000;
/** Sets of cookies that one answer brings at most, and their length; but always one set. */
export const MAX_COOKIE_SETS = 100;
export const MAX_COOKIE_CHARS = 256 * 1024;

/**
 * A crawl with requests that no lease can find stands still. After so many ms a node rebuilds its indexes: a state that no verb
 * leaves behind, so the time only keeps a hand that is at work from seeing it.
 */
export const STALL_MS = 5_000;

/** The clock of a crawl stores its last instant when it has advanced by so much. */
export const CLOCK_SAVE_MS = 1_000;
/** The offset that bridges a step back shrinks by one of so many parts of the time that passes. */
export const CLOCK_SHRINKS_BY = 100;
/** With an offset, a longer step forward is that of the store's own clock, and what the offset was needed for is over. */
export const CLOCK_STEP_MS = 10_000;
/**
 * A live node that finds the clock further on by so much, and by half of the node timeout, since any node has called knows that it
 * was set forward, or that all nodes stood still: heartbeats count from then. Longer than a node is silent between two calls.
 */
export const CLOCK_LEAP_MS = 3_000;

/** A report of a node names so many domains at most; the others add up under `OTHER_DOMAINS`. */
export const MAX_REPORTED_DOMAINS = 100;
/** The most recently active domains are kept, and so many counts of each. */
export const MAX_KNOWN_DOMAINS = 10_000;
export const MAX_DOMAIN_COUNTS = 100;
/** Domains that one look at a crawl reads of each kind: counting their requests takes 4 µs each. */
export const READY_DOMAINS_READ = 200;
/** Points of the history: so far apart, for an hour. And a minute apart, for as long as STATS_HISTORY says. */
export const HISTORY_STEP_MS = 10_000;
export const HISTORY_POINTS = 360;
export const HISTORY_LONG_STEP_MS = 60_000;
/** With the largest STATS_HISTORY, a week. */
export const HISTORY_LONG_POINTS = 10_080;
/** Events that are kept. */
export const MAX_EVENTS = 500;
/** A pause of a domain is an event from so long on; further ones within this time of it are counted with it. */
export const TOLD_PAUSE_MS = 10_000;
export const PAUSES_TOGETHER_MS = 60_000;
/** Dead nodes are shown for a day, the last ones. */
export const DEAD_NODES_FOR_MS = 24 * 60 * 60 * 1000;
export const MAX_DEAD_NODES = 100;
/** Of the requests that a dead node held, so many are named. */
export const MAX_HELD_IDS = 20;
