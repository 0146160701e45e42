/** Settings: the shared frontier: order, dupefilter, seeds, key names, and when a crawl ends. */
import { z } from 'zod';
import { choice, decimal, define, flag, integer, optionalInteger, parseList, text } from '../kinds.js';

const queueAliases: Record<string, string> = {
  SpiderPriorityQueue: 'PriorityQueue',
  SpiderQueue: 'FifoQueue',
  SpiderStack: 'LifoQueue',
};

/** The class of a Scrapy or Scrapy-Redis dotted path; another package's class is left as it is, and refused. */
function pythonClass(name: string): string {
  const last = /^(?:scrapy_redis|scrapy)\.[a-z_.]+\.(\w+)$/.exec(name)?.[1] ?? name;
  return queueAliases[last] ?? last;
}

const keyTemplate = (word: string, of: string) =>
  text({ default: `%(spider)s:${word}`, text: `Key of ${of}. %(spider)s is the spider's name.` });

export const frontierSettings = {
  SCHEDULER: text({
    default: 'crawlnode',
    ignored: 'there is one scheduler',
    text: 'Scrapy; without effect.',
  }),
  SCHEDULER_SERIALIZER: text({
    default: 'json',
    ignored: 'records are JSON',
    text: 'Scrapy-Redis; without effect.',
  }),
  SCHEDULER_IDLE_BEFORE_CLOSE: integer({
    default: 0,
    unit: 'seconds',
    ignored: 'nothing blocks in the store',
    text: 'Scrapy-Redis; without effect.',
  }),
  SCHEDULER_QUEUE_CLASS: choice({
    of: ['PriorityQueue', 'FifoQueue', 'LifoQueue'],
    default: 'PriorityQueue',
    normalize: pythonClass,
    text: 'Order of requests: higher priority first and by arrival among equals, oldest first, or newest first. The dotted Python paths and SpiderPriorityQueue, SpiderQueue, SpiderStack are taken too.',
  }),
  SCHEDULER_PERSIST: flag({
    default: true,
    text: 'Keep queue and dupefilter after the crawl. When false the last live node clears them, after true completion only, and not where a signal, a stop or a budget ends the run; where others were killed it stays until they count as dead (NODE_TIMEOUT).',
  }),
  SCHEDULER_FLUSH_ON_START: flag({
    default: false,
    text: 'Begin a new run from nothing: requests, failed requests and fingerprints of earlier runs are cleared, once. A node that joins live others, or goes on with an interrupted run, clears nothing and says so.',
  }),
  SCHEDULER_QUEUE_KEY: keyTemplate('requests', 'the requests'),
  SCHEDULER_DUPEFILTER_KEY: keyTemplate('dupefilter', 'the dupefilter'),
  SCHEDULER_QUEUE_LIMIT: integer({
    default: 0,
    unit: 'requests',
    text: 'At this many pending and delayed requests the intake of seeds pauses; at twice as many discovered requests are dropped, and counted; 0 is no limit. The latest crawl wins for all nodes.',
  }),
  MAX_IDLE_TIME_BEFORE_CLOSE: integer({
    default: 0,
    unit: 'seconds',
    text: 'Leave when all nodes together have had nothing to do for this long; 0 is never.',
  }),
  DUPEFILTER_CLASS: choice({
    of: ['RFPDupeFilter', 'TimedRFPDupeFilter', 'StateDupeFilter', 'BloomDupeFilter', 'CompactDupeFilter'],
    default: 'RFPDupeFilter',
    normalize: pythonClass,
    text: 'The record of requests seen: exact and as Scrapy-Redis keeps it; with an expiry for each; with the state of each request; small with a stated error (Bloom); small and near-exact (Compact). All nodes and seeds of a crawl use the same; it may change with an emptied one (reset --only dupefilter).',
  }),
  DUPEFILTER_EXPIRE: integer({
    default: 0,
    unit: 'seconds',
    text: 'TimedRFPDupeFilter: this long after it was accepted a request is new again; 0 is never.',
  }),
  DUPEFILTER_CAPACITY: integer({
    default: 1_000_000,
    min: 1,
    max: 10_000_000_000,
    unit: 'fingerprints',
    text: 'BloomDupeFilter: how many fingerprints it is made for; beyond that slices are added, and the error rate may double.',
  }),
  DUPEFILTER_ERROR_RATE: decimal({
    default: 0.001,
    min: 0.000_000_1,
    max: 0.5,
    text: 'BloomDupeFilter: share of new requests taken for seen, at capacity.',
  }),
  DUPEFILTER_DEBUG: flag({
    default: false,
    ignored: 'duplicates are counted',
    text: 'Scrapy; without effect.',
  }),
  REQUEST_FINGERPRINTER: choice({
    of: ['scrapy-redis', 'scrapy', 'scrapy-2.6'],
    default: 'scrapy-redis',
    text: 'Formula of a fingerprint: of Scrapy-Redis >= 0.8, of Scrapy >= 2.7, or of Scrapy <= 2.6.',
  }),
  REDIS_START_URLS_KEY: define(
    z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    'a key, or a list of keys',
    {
      default: '%(name)s:start_urls' as string | string[],
      text: 'Key of external seeds, or a list of keys in the order they are read. %(name)s is the name of the spider.',
    },
    (written) => (/^\s*\[|,/.test(written) ? parseList(written) : written),
  ),
  REDIS_START_URLS_AS_SET: flag({ default: false, text: 'The seeds are a set instead of a list.' }),
  REDIS_START_URLS_AS_ZSET: flag({
    default: false,
    text: 'The seeds are a sorted set instead of a list; the highest score goes first.',
  }),
  REDIS_START_URLS_BATCH_SIZE: optionalInteger({
    min: 1,
    unit: 'seeds',
    text: 'How many seeds are read at a time; null is CONCURRENT_REQUESTS.',
  }),
  REDIS_START_URLS_ENCODING: text({
    default: 'utf-8',
    ignored: 'everything is UTF-8',
    text: 'Scrapy-Redis; without effect.',
  }),
  SEEDS_FILTERED: flag({
    default: false,
    text: 'Seeds pass the dupefilter too, instead of being fetched again.',
  }),
  FAILED_LIMIT: integer({
    default: 100_000,
    unit: 'requests',
    text: 'How many failed requests are kept whole; beyond that they are only counted.',
  }),
  STATS_KEY: keyTemplate('stats', 'the counters'),
  CLOSESPIDER_PAGECOUNT: integer({
    default: 0,
    unit: 'pages',
    text: 'Close after this many page downloads of all nodes together; 0 is no limit. The same as --max-pages.',
  }),
  CLOSESPIDER_ITEMCOUNT: integer({
    default: 0,
    unit: 'items',
    text: 'Close after this many items of all nodes together. The page that reaches it is committed whole; pages with items that come later wait for the next run. 0 is no limit.',
  }),
  CLOSESPIDER_TIMEOUT: decimal({
    default: 0,
    unit: 'seconds',
    text: 'Close when this long has passed since the run began, on whichever node; what is in work is finished. 0 is no limit.',
  }),
  CLOSESPIDER_ERRORCOUNT: integer({
    default: 0,
    unit: 'errors',
    text: 'Close after this many exceptions in spider code, of all nodes together; what is in work is finished. 0 is no limit.',
  }),
};
