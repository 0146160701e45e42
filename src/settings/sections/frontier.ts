/** Settings: the shared frontier: order, dupefilter, seeds, key names, and the end of a crawl. */

import * as z from 'zod';
import { FIRST_FAILED_LIMIT } from '../first-tunables.js';
import {
  choice,
  decimal,
  define,
  flag,
  integer,
  moduleOrObject,
  optionalInteger,
  parseList,
  text,
  withoutEffect,
} from '../kinds.js';

const queueAliases: Record<string, string> = {
  SpiderPriorityQueue: 'PriorityQueue',
  SpiderQueue: 'FifoQueue',
  SpiderStack: 'LifoQueue',
};

/** The class name of a dotted path of Scrapy or Scrapy-Redis. Other paths are returned unchanged, so they are rejected. */
function pythonClass(name: string): string {
  const last = /^(?:scrapy_redis|scrapy)\.[a-z_.]+\.(\w+)$/.exec(name)?.[1] ?? name;
  return queueAliases[last] ?? last;
}

/** A module that a program gives as such. A map of a settings file is none. */
function isObject(value: unknown): boolean {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && !Array.isArray(value))
  );
}

const keyTemplate = (word: string) => text({ default: `%(spider)s:${word}` });

/** The settings that give the start_urls keys another type than list, at most one of them, and that type. */
export const startUrlsTypes = [
  ['REDIS_START_URLS_AS_SET', 'set'],
  ['REDIS_START_URLS_AS_ZSET', 'zset'],
  ['REDIS_START_URLS_AS_STREAM', 'stream'],
] as const;

export const frontierSettings = {
  /** It has no effect: there is one scheduler. Default: "crawlnode". */
  SCHEDULER: withoutEffect('crawlnode', 'there is one scheduler'),
  /** It has no effect: records are JSON. Default: "json". */
  SCHEDULER_SERIALIZER: withoutEffect('json', 'records are JSON'),
  /** It has no effect: no call to the store blocks. Default: 0. */
  SCHEDULER_IDLE_BEFORE_CLOSE: withoutEffect(0, 'no call to the store blocks'),
  /**
   * Order of requests. PriorityQueue: higher priority first, and by arrival among equals. FifoQueue: oldest
   * first. LifoQueue: newest first. The dotted Python paths and SpiderPriorityQueue, SpiderQueue, SpiderStack
   * are accepted too. Default: "PriorityQueue".
   */
  SCHEDULER_QUEUE_CLASS: choice({
    of: ['PriorityQueue', 'FifoQueue', 'LifoQueue'],
    default: 'PriorityQueue',
    hint: 'in place of a queue class of your own, write a module with priority(request) and name it in REQUEST_MODULE',
    normalize: pythonClass,
  }),
  /**
   * Keep queue and dupefilter after the crawl. When false, the last live node clears them, but only when
   * nothing is left to crawl: they are kept when a signal, a stop or a budget ends the run. Where other nodes
   * were killed, the last node stays until they count as dead (NODE_TIMEOUT). Default: true.
   */
  SCHEDULER_PERSIST: flag({ default: true }),
  /**
   * Start each new run empty: the first node clears requests, failed requests and fingerprints of earlier
   * runs. A node that joins live nodes, or continues an interrupted run, clears nothing and logs that.
   * Default: false.
   */
  SCHEDULER_FLUSH_ON_START: flag({ default: false }),
  /** Key of the requests. %(spider)s is the spider's name. Default: "%(spider)s:requests". */
  SCHEDULER_QUEUE_KEY: keyTemplate('requests'),
  /** Key of the dupefilter. %(spider)s is the spider's name. Default: "%(spider)s:dupefilter". */
  SCHEDULER_DUPEFILTER_KEY: keyTemplate('dupefilter'),
  /**
   * Maximum number of pending and delayed requests. At the limit, seeds wait in their keys. At twice the
   * limit, discovered links are dropped and counted. 0 is no limit. The value of the latest crawl command
   * holds for all nodes. Unit: requests. Default: 0.
   */
  SCHEDULER_QUEUE_LIMIT: integer({ default: 0, unit: 'requests' }),
  /**
   * Maximum size of the crawl in the store: requests, dupefilter, items list and counters, without seeds that
   * wait in their keys. It is measured every 10 seconds; a Redis user without MEMORY USAGE cannot measure it.
   * Above it, seeds wait in their keys, and discovered links are dropped and counted. 0 is no limit. The value
   * of the latest crawl command holds for all nodes. Unit: bytes. Default: 0.
   */
  SCHEDULER_MEMORY_LIMIT: integer({ default: 0, unit: 'bytes' }),
  /** All nodes leave when all of them have been idle for this long. 0 is never. Unit: seconds. Default: 0. */
  MAX_IDLE_TIME_BEFORE_CLOSE: integer({ default: 0, unit: 'seconds' }),
  /**
   * How the crawl remembers which requests it has seen. RFPDupeFilter: exact, in the format of Scrapy-Redis.
   * TimedRFPDupeFilter: exact, and each fingerprint expires. StateDupeFilter: exact, with the state of each
   * request. BloomDupeFilter: small, with a configurable error rate. CompactDupeFilter: small and nearly
   * exact. All nodes and seeds of a crawl use the same class; it can be changed after "reset --only
   * dupefilter". Default: "RFPDupeFilter".
   */
  DUPEFILTER_CLASS: choice({
    of: ['RFPDupeFilter', 'TimedRFPDupeFilter', 'StateDupeFilter', 'BloomDupeFilter', 'CompactDupeFilter'],
    default: 'RFPDupeFilter',
    hint: 'fingerprints that expire are the built-in TimedRFPDupeFilter; for other fingerprints, in place of a class of your own, write a module with fingerprint(request) and name it in REQUEST_MODULE',
    normalize: pythonClass,
  }),
  /**
   * TimedRFPDupeFilter: after this time an accepted request counts as new again. 0 is never. Unit: seconds.
   * Default: 0.
   */
  DUPEFILTER_EXPIRE: integer({ default: 0, unit: 'seconds' }),
  /**
   * BloomDupeFilter: the expected number of fingerprints. Beyond that the filter grows, and the error rate
   * may double. Unit: fingerprints. Default: 1000000.
   */
  DUPEFILTER_CAPACITY: integer({ default: 1_000_000, min: 1, max: 10_000_000_000, unit: 'fingerprints' }),
  /**
   * BloomDupeFilter: the share of new requests that a full filter wrongly reports as seen. Default: 0.001.
   */
  DUPEFILTER_ERROR_RATE: decimal({ default: 0.001, min: 0.000_000_1, max: 0.5 }),
  /** It has no effect: duplicates are counted. Default: false. */
  DUPEFILTER_DEBUG: withoutEffect(false, 'duplicates are counted'),
  /**
   * Algorithm of the fingerprint. scrapy-redis: of Scrapy-Redis >= 0.8. scrapy: of Scrapy >= 2.7. scrapy-2.6:
   * of Scrapy <= 2.6. Default: "scrapy-redis".
   */
  REQUEST_FINGERPRINTER: choice({
    of: ['scrapy-redis', 'scrapy', 'scrapy-2.6'],
    default: 'scrapy-redis',
    hint: 'a module of your own goes into REQUEST_MODULE',
  }),
  /**
   * Module with an id, and with fingerprint(request), priority(request) or both: what counts as the same
   * request, and which request is next. All nodes of a crawl need a module with the same id. A program may
   * give the object. Default: null.
   */
  REQUEST_MODULE: moduleOrObject(isObject),
  /**
   * Key of external seeds, or a list of keys in the order they are read. %(name)s is the name of the spider.
   * Default: "%(name)s:start_urls".
   */
  REDIS_START_URLS_KEY: define(
    z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    'a key, or a list of keys',
    { default: '%(name)s:start_urls' as string | string[] },
    (value) => (/^\s*\[|,/.test(value) ? parseList(value) : value),
  ),
  /** The seeds are a set instead of a list. Default: false. */
  REDIS_START_URLS_AS_SET: flag({ default: false }),
  /** The seeds are a sorted set instead of a list, read from the highest score. Default: false. */
  REDIS_START_URLS_AS_ZSET: flag({ default: false }),
  /**
   * The seeds are a Redis stream instead of a list. Each crawl reads it by a consumer group of its own and
   * never deletes entries. The embedded engine keeps a list. Default: false.
   */
  REDIS_START_URLS_AS_STREAM: flag({ default: false }),
  /** How many seeds are read at a time. Null stands for CONCURRENT_REQUESTS. Unit: seeds. Default: null. */
  REDIS_START_URLS_BATCH_SIZE: optionalInteger({ min: 1, unit: 'seeds' }),
  /** It has no effect: everything is UTF-8. Default: "utf-8". */
  REDIS_START_URLS_ENCODING: withoutEffect('utf-8', 'everything is UTF-8'),
  /** Drop seeds that were seen before, instead of fetching them again. Default: false. */
  SEEDS_FILTERED: flag({ default: false }),
  /**
   * How many failed requests are stored completely. Beyond that, only their ids are stored. Unit: requests.
   * Default: 100000.
   */
  FAILED_LIMIT: integer({ default: FIRST_FAILED_LIMIT, unit: 'requests' }),
  /** Key of the counters. %(spider)s is the spider's name. Default: "%(spider)s:stats". */
  STATS_KEY: keyTemplate('stats'),
  /**
   * End the run after this many page downloads, over all nodes. 0 is no limit. The same as --max-pages. Unit:
   * pages. Default: 0.
   */
  CLOSESPIDER_PAGECOUNT: integer({ default: 0, unit: 'pages' }),
  /**
   * End the run after this many items, over all nodes. The page that reaches the number is committed whole.
   * Further pages with items are left to the next run. 0 is no limit. Unit: items. Default: 0.
   */
  CLOSESPIDER_ITEMCOUNT: integer({ default: 0, unit: 'items' }),
  /**
   * End the run after this time, counted from the start of its first node. Pages in progress are finished. 0
   * is no limit. Unit: seconds. Default: 0.
   */
  CLOSESPIDER_TIMEOUT: decimal({ default: 0, unit: 'seconds' }),
  /**
   * End the run after this many errors in spider code, over all nodes. Pages in progress are finished. 0 is
   * no limit. Unit: errors. Default: 0.
   */
  CLOSESPIDER_ERRORCOUNT: integer({ default: 0, unit: 'errors' }),
};
