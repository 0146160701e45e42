/** Written by "npm run docs" from the definitions of the settings. Change src/settings/sections/, not this file. */
import type * as z from 'zod';
import type { definitions, SettingName } from './definitions.js';

type Input<N extends SettingName> = z.input<(typeof definitions)[N]['zod']> | undefined;

/**
 * Settings as a settings file or a spider may write them: any of them, in any accepted spelling. Times are in seconds, sizes
 * in bytes.
 */
export interface SettingsInput {
  /**
   * Folders with spiders: TypeScript or JavaScript modules (ES modules) that default-export a class. Default:
   * ["spiders"].
   */
  readonly SPIDER_MODULES?: Input<'SPIDER_MODULES'>;
  /**
   * Module whose default export, a zod object, declares the settings of the project itself: ./settings.ts. A
   * program may give the zod object. Default: null.
   */
  readonly SETTINGS_SCHEMA?: Input<'SETTINGS_SCHEMA'>;
  /** Name of an isolated crawl of a spider: every key ends in @JOB. Default: null. */
  readonly JOB?: Input<'JOB'>;
  /** Folder of the embedded engine, shared by the processes of one machine. Default: ".crawlnode". */
  readonly JOBDIR?: Input<'JOBDIR'>;
  /**
   * Label of this node in stats and logs. Several nodes may have the same. Null stands for host and process
   * id. Default: null.
   */
  readonly NODE_ID?: Input<'NODE_ID'>;
  /**
   * A node without a heartbeat for this long counts as dead, and others take over its requests. Unit:
   * seconds. Default: 30.
   */
  readonly NODE_TIMEOUT?: Input<'NODE_TIMEOUT'>;
  /** Time between two heartbeats of a node. Unit: seconds. Default: 5. */
  readonly HEARTBEAT_INTERVAL?: Input<'HEARTBEAT_INTERVAL'>;
  /**
   * A node whose main loop is blocked for this long, for example by a callback that never returns, sends no
   * more heartbeats. It then counts as dead after NODE_TIMEOUT, and its process exits after three times
   * NODE_TIMEOUT. Unit: seconds. Default: 120.
   */
  readonly MAIN_LOOP_TIMEOUT?: Input<'MAIN_LOOP_TIMEOUT'>;
  /**
   * How long a node with --exit-when-done waits for the first seed when nothing is pending. Unit: seconds.
   * Default: 10.
   */
  readonly START_TIMEOUT?: Input<'START_TIMEOUT'>;
  /**
   * How long a node that leaves may take to finish its pages. Unfinished requests then go back to the queue.
   * Unit: seconds. Default: 25.
   */
  readonly SHUTDOWN_TIMEOUT?: Input<'SHUTDOWN_TIMEOUT'>;
  /**
   * How long a node waits for a store that does not answer, a full disk, a feed file that cannot be written
   * or a pipeline that does not accept committed items, before it ends with exit code 1 or 4. Nothing is
   * lost. 0 is without limit. Null stands for 600 with --exit-when-done and in programs, and for 0 otherwise.
   * Unit: seconds. Default: null.
   */
  readonly WAIT_TIMEOUT?: Input<'WAIT_TIMEOUT'>;
  /**
   * Lowest level that is logged, by the names of Scrapy (DEBUG, INFO, WARNING, ERROR, CRITICAL) or pino, in
   * upper or lower case. Default: "info".
   */
  readonly LOG_LEVEL?: Input<'LOG_LEVEL'>;
  /** File that the log is appended to, instead of stderr. Default: null. */
  readonly LOG_FILE?: Input<'LOG_FILE'>;
  /**
   * Format of the log: text, json (one JSON object a line), or auto: text on a terminal, json in a pipe and
   * in a file. Default: "auto".
   */
  readonly LOG_FORMAT?: Input<'LOG_FORMAT'>;
  /** It has no effect: its feature comes in a later version. Default: 0. */
  readonly METRICS_PORT?: Input<'METRICS_PORT'>;
  /**
   * Time between two log lines of progress, when no terminal shows the progress. 0 is never. Unit: seconds.
   * Default: 60.
   */
  readonly LOGSTATS_INTERVAL?: Input<'LOGSTATS_INTERVAL'>;
  /**
   * Address of Redis: redis://user:password@host:6379/0, or rediss:// for TLS. It takes precedence over
   * REDIS_HOST. Default: null.
   */
  readonly REDIS_URL?: Input<'REDIS_URL'>;
  /**
   * Host of Redis. Without this or another address of Redis, the embedded engine under JOBDIR is used.
   * Default: null.
   */
  readonly REDIS_HOST?: Input<'REDIS_HOST'>;
  /** Port of Redis, used with REDIS_HOST. Default: 6379. */
  readonly REDIS_PORT?: Input<'REDIS_PORT'>;
  /** User of the Redis ACL. Default: null. */
  readonly REDIS_USERNAME?: Input<'REDIS_USERNAME'>;
  /** Password of Redis; never shown. Default: null. */
  readonly REDIS_PASSWORD?: Input<'REDIS_PASSWORD'>;
  /** Number of the Redis database. Default: 0. */
  readonly REDIS_DB?: Input<'REDIS_DB'>;
  /**
   * Options of the Redis client (ioredis). The names of redis-py are accepted too: socket_timeout and
   * socket_connect_timeout in seconds, retry_on_timeout, max_connections, password, username, db. Default:
   * {}.
   */
  readonly REDIS_PARAMS?: Input<'REDIS_PARAMS'>;
  /** Sentinels as host:port; the master is REDIS_SENTINEL_NAME. Default: []. */
  readonly REDIS_SENTINELS?: Input<'REDIS_SENTINELS'>;
  /** Name of the master that the sentinels watch. Default: "mymaster". */
  readonly REDIS_SENTINEL_NAME?: Input<'REDIS_SENTINEL_NAME'>;
  /** User for the sentinels themselves. Default: null. */
  readonly REDIS_SENTINEL_USERNAME?: Input<'REDIS_SENTINEL_USERNAME'>;
  /** Password of the sentinels; never shown. Default: null. */
  readonly REDIS_SENTINEL_PASSWORD?: Input<'REDIS_SENTINEL_PASSWORD'>;
  /** Some nodes of a Redis Cluster as host:port; the others are discovered. Default: []. */
  readonly REDIS_CLUSTER_NODES?: Input<'REDIS_CLUSTER_NODES'>;
  /**
   * Use TLS with REDIS_HOST, sentinels or a cluster. A REDIS_URL with rediss:// does not need it. Default:
   * false.
   */
  readonly REDIS_TLS?: Input<'REDIS_TLS'>;
  /** File with the certificate authority (PEM) of Redis. Default: null. */
  readonly REDIS_TLS_CA?: Input<'REDIS_TLS_CA'>;
  /** File with the certificate (PEM) of this client. Default: null. */
  readonly REDIS_TLS_CERT?: Input<'REDIS_TLS_CERT'>;
  /** File with the key (PEM) of REDIS_TLS_CERT. Default: null. */
  readonly REDIS_TLS_KEY?: Input<'REDIS_TLS_KEY'>;
  /**
   * How long the first connection is attempted. After that the command ends with exit code 4. Unit: seconds.
   * Default: 10.
   */
  readonly REDIS_CONNECT_TIMEOUT?: Input<'REDIS_CONNECT_TIMEOUT'>;
  /**
   * How many replicas must have a write before a page or a request counts as committed. Each call then takes
   * as long as replication. With fewer replicas the crawl waits. Unit: replicas. Default: 0.
   */
  readonly REDIS_WAIT_REPLICAS?: Input<'REDIS_WAIT_REPLICAS'>;
  /**
   * Accept a Redis server with the maxmemory-policy allkeys-*, which deletes parts of the crawl when its
   * memory is full. Default: false.
   */
  readonly REDIS_ALLOW_EVICTION?: Input<'REDIS_ALLOW_EVICTION'>;
  /** It has no effect: everything is UTF-8. Default: "utf-8". */
  readonly REDIS_ENCODING?: Input<'REDIS_ENCODING'>;
  /** It has no effect: there is one scheduler. Default: "crawlnode". */
  readonly SCHEDULER?: Input<'SCHEDULER'>;
  /** It has no effect: records are JSON. Default: "json". */
  readonly SCHEDULER_SERIALIZER?: Input<'SCHEDULER_SERIALIZER'>;
  /** It has no effect: no call to the store blocks. Default: 0. */
  readonly SCHEDULER_IDLE_BEFORE_CLOSE?: Input<'SCHEDULER_IDLE_BEFORE_CLOSE'>;
  /**
   * Order of requests. PriorityQueue: higher priority first, and by arrival among equals. FifoQueue: oldest
   * first. LifoQueue: newest first. The dotted Python paths and SpiderPriorityQueue, SpiderQueue, SpiderStack
   * are accepted too. Default: "PriorityQueue".
   */
  readonly SCHEDULER_QUEUE_CLASS?: Input<'SCHEDULER_QUEUE_CLASS'>;
  /**
   * Keep queue and dupefilter after the crawl. When false, the last live node clears them, but only when
   * nothing is left to crawl: they are kept when a signal, a stop or a budget ends the run. Where other nodes
   * were killed, the last node stays until they count as dead (NODE_TIMEOUT). Default: true.
   */
  readonly SCHEDULER_PERSIST?: Input<'SCHEDULER_PERSIST'>;
  /**
   * Start each new run empty: the first node clears requests, failed requests and fingerprints of earlier
   * runs. A node that joins live nodes, or continues an interrupted run, clears nothing and logs that.
   * Default: false.
   */
  readonly SCHEDULER_FLUSH_ON_START?: Input<'SCHEDULER_FLUSH_ON_START'>;
  /** Key of the requests. %(spider)s is the spider's name. Default: "%(spider)s:requests". */
  readonly SCHEDULER_QUEUE_KEY?: Input<'SCHEDULER_QUEUE_KEY'>;
  /** Key of the dupefilter. %(spider)s is the spider's name. Default: "%(spider)s:dupefilter". */
  readonly SCHEDULER_DUPEFILTER_KEY?: Input<'SCHEDULER_DUPEFILTER_KEY'>;
  /**
   * Maximum number of pending and delayed requests. At the limit, seeds wait in their keys. At twice the
   * limit, discovered links are dropped and counted. 0 is no limit. The value of the latest crawl command
   * holds for all nodes. Unit: requests. Default: 0.
   */
  readonly SCHEDULER_QUEUE_LIMIT?: Input<'SCHEDULER_QUEUE_LIMIT'>;
  /** All nodes leave when all of them have been idle for this long. 0 is never. Unit: seconds. Default: 0. */
  readonly MAX_IDLE_TIME_BEFORE_CLOSE?: Input<'MAX_IDLE_TIME_BEFORE_CLOSE'>;
  /**
   * How the crawl remembers which requests it has seen. RFPDupeFilter: exact, in the format of Scrapy-Redis.
   * TimedRFPDupeFilter: exact, and each fingerprint expires. StateDupeFilter: exact, with the state of each
   * request. BloomDupeFilter: small, with a configurable error rate. CompactDupeFilter: small and nearly
   * exact. All nodes and seeds of a crawl use the same class; it can be changed after "reset --only
   * dupefilter". Default: "RFPDupeFilter".
   */
  readonly DUPEFILTER_CLASS?: Input<'DUPEFILTER_CLASS'>;
  /**
   * TimedRFPDupeFilter: after this time an accepted request counts as new again. 0 is never. Unit: seconds.
   * Default: 0.
   */
  readonly DUPEFILTER_EXPIRE?: Input<'DUPEFILTER_EXPIRE'>;
  /**
   * BloomDupeFilter: the expected number of fingerprints. Beyond that the filter grows, and the error rate
   * may double. Unit: fingerprints. Default: 1000000.
   */
  readonly DUPEFILTER_CAPACITY?: Input<'DUPEFILTER_CAPACITY'>;
  /**
   * BloomDupeFilter: the share of new requests that a full filter wrongly reports as seen. Default: 0.001.
   */
  readonly DUPEFILTER_ERROR_RATE?: Input<'DUPEFILTER_ERROR_RATE'>;
  /** It has no effect: duplicates are counted. Default: false. */
  readonly DUPEFILTER_DEBUG?: Input<'DUPEFILTER_DEBUG'>;
  /**
   * Algorithm of the fingerprint. scrapy-redis: of Scrapy-Redis >= 0.8. scrapy: of Scrapy >= 2.7. scrapy-2.6:
   * of Scrapy <= 2.6. Default: "scrapy-redis".
   */
  readonly REQUEST_FINGERPRINTER?: Input<'REQUEST_FINGERPRINTER'>;
  /**
   * Module with an id, and with fingerprint(request), priority(request) or both: what counts as the same
   * request, and which request is next. All nodes of a crawl need a module with the same id. A program may
   * give the object. Default: null.
   */
  readonly REQUEST_MODULE?: Input<'REQUEST_MODULE'>;
  /**
   * Key of external seeds, or a list of keys in the order they are read. %(name)s is the name of the spider.
   * Default: "%(name)s:start_urls".
   */
  readonly REDIS_START_URLS_KEY?: Input<'REDIS_START_URLS_KEY'>;
  /** The seeds are a set instead of a list. Default: false. */
  readonly REDIS_START_URLS_AS_SET?: Input<'REDIS_START_URLS_AS_SET'>;
  /** The seeds are a sorted set instead of a list, read from the highest score. Default: false. */
  readonly REDIS_START_URLS_AS_ZSET?: Input<'REDIS_START_URLS_AS_ZSET'>;
  /** How many seeds are read at a time. Null stands for CONCURRENT_REQUESTS. Unit: seeds. Default: null. */
  readonly REDIS_START_URLS_BATCH_SIZE?: Input<'REDIS_START_URLS_BATCH_SIZE'>;
  /** It has no effect: everything is UTF-8. Default: "utf-8". */
  readonly REDIS_START_URLS_ENCODING?: Input<'REDIS_START_URLS_ENCODING'>;
  /** Drop seeds that were seen before, instead of fetching them again. Default: false. */
  readonly SEEDS_FILTERED?: Input<'SEEDS_FILTERED'>;
  /**
   * How many failed requests are stored completely. Beyond that, only their ids are stored. Unit: requests.
   * Default: 100000.
   */
  readonly FAILED_LIMIT?: Input<'FAILED_LIMIT'>;
  /** Key of the counters. %(spider)s is the spider's name. Default: "%(spider)s:stats". */
  readonly STATS_KEY?: Input<'STATS_KEY'>;
  /**
   * End the run after this many page downloads, over all nodes. 0 is no limit. The same as --max-pages. Unit:
   * pages. Default: 0.
   */
  readonly CLOSESPIDER_PAGECOUNT?: Input<'CLOSESPIDER_PAGECOUNT'>;
  /**
   * End the run after this many items, over all nodes. The page that reaches the number is committed whole.
   * Further pages with items are left to the next run. 0 is no limit. Unit: items. Default: 0.
   */
  readonly CLOSESPIDER_ITEMCOUNT?: Input<'CLOSESPIDER_ITEMCOUNT'>;
  /**
   * End the run after this time, counted from the start of its first node. Pages in progress are finished. 0
   * is no limit. Unit: seconds. Default: 0.
   */
  readonly CLOSESPIDER_TIMEOUT?: Input<'CLOSESPIDER_TIMEOUT'>;
  /**
   * End the run after this many errors in spider code, over all nodes. Pages in progress are finished. 0 is
   * no limit. Unit: errors. Default: 0.
   */
  readonly CLOSESPIDER_ERRORCOUNT?: Input<'CLOSESPIDER_ERRORCOUNT'>;
  /**
   * Pipelines that process every item, lowest number first. RedisPipeline appends the item to
   * REDIS_ITEMS_KEY. By default it is on only when no file takes the items (-o, -O or FEEDS). Other pipelines
   * are modules such as ./pipelines/clean.ts. Default: {"RedisPipeline":300}.
   */
  readonly ITEM_PIPELINES?: Input<'ITEM_PIPELINES'>;
  /**
   * Extensions: modules such as ./extensions/alerts.ts that are called when something happens in the crawl,
   * lowest number first. Default: {}.
   */
  readonly EXTENSIONS?: Input<'EXTENSIONS'>;
  /** Add node_id to every item in the items list. Default: false. */
  readonly ITEM_NODE_ID?: Input<'ITEM_NODE_ID'>;
  /**
   * Files that items are written to: { out.jsonl: { format: jsonl, overwrite: false } }. Formats: jsonl,
   * json, csv, xml; without one, the extension decides, which .gz may follow. Names may contain %(name)s,
   * %(job)s and %(time)s. fields: a list, or a map of fields to names. indent: spaces, for json and xml.
   * store_empty: false removes a file without items. batch_item_count: begins a new file after so many items;
   * the name must contain %(batch_id)d. item_filter: a module such as ./filters/cheap.ts, whose default
   * export decides which items go to the file. stdout: in place of a file is standard output. postprocessing:
   * [GzipPlugin] compresses. escape_formulas: true puts an apostrophe before a CSV text that a spreadsheet
   * would run (=, +, -, @). Default: {}.
   */
  readonly FEEDS?: Input<'FEEDS'>;
  /**
   * How many committed items may wait for a file of FEEDS or -o that cannot be written, or for committed() of
   * an item pipeline. Above this limit the crawl pauses. Unit: items. Default: 10000.
   */
  readonly FEED_OUTBOX_LIMIT?: Input<'FEED_OUTBOX_LIMIT'>;
  /** Key of the items list. %(spider)s is the spider's name. Default: "%(spider)s:items". */
  readonly REDIS_ITEMS_KEY?: Input<'REDIS_ITEMS_KEY'>;
  /** It has no effect: items are JSON. Default: "json". */
  readonly REDIS_ITEMS_SERIALIZER?: Input<'REDIS_ITEMS_SERIALIZER'>;
  /**
   * What an error does to its page. fail: nothing of the page is committed, and it goes to the failed list.
   * keep, as in Scrapy: what a callback yielded before its error is committed, the page goes to the failed
   * list as kept, and "failed retry" skips it unless --kept is given; an error of a pipeline costs only its
   * item. Default: "fail".
   */
  readonly CALLBACK_ERROR?: Input<'CALLBACK_ERROR'>;
  /**
   * An asynchronous callback or errback that has not finished after this time fails its page as
   * callback_timeout, a processItem fails it as pipeline_error, and a method of a middleware as
   * middleware_error. A start() that gives nothing for this long is not given up: a warning says so. For code
   * that blocks the process see MAIN_LOOP_TIMEOUT. Unit: seconds. Default: 300.
   */
  readonly CALLBACK_TIMEOUT?: Input<'CALLBACK_TIMEOUT'>;
  /** A page that yields more items fails as too_many_items. Unit: items. Default: 10000. */
  readonly MAX_ITEMS_PER_PAGE?: Input<'MAX_ITEMS_PER_PAGE'>;
  /**
   * Folder of the files of FilesPipeline, or s3://BUCKET/FOLDER. All nodes must share it, unless
   * FILES_HOST_IN_PATH is true. Default: null.
   */
  readonly FILES_STORE?: Input<'FILES_STORE'>;
  /**
   * How long a file or image that cannot be stored is tried again, with growing pauses. Then its request
   * fails as files_unwritable, with its item. Unit: seconds. Default: 300.
   */
  readonly FILES_STORE_TIMEOUT?: Input<'FILES_STORE_TIMEOUT'>;
  /** Access to the files in a bucket. private leaves it to the bucket. Default: "private". */
  readonly FILES_STORE_S3_ACL?: Input<'FILES_STORE_S3_ACL'>;
  /**
   * Field of an item with the URLs of its files. With the default, fileUrls is read too. Default:
   * "file_urls".
   */
  readonly FILES_URLS_FIELD?: Input<'FILES_URLS_FIELD'>;
  /** Field of an item that gets the results of its files. Default: "files". */
  readonly FILES_RESULT_FIELD?: Input<'FILES_RESULT_FIELD'>;
  /**
   * A file in FILES_STORE that is older is downloaded again; 0 downloads each file whenever an item names it.
   * Unit: days. Default: 90.
   */
  readonly FILES_EXPIRES?: Input<'FILES_EXPIRES'>;
  /**
   * A larger file or image fails as too_large; 0 leaves DOWNLOAD_MAXSIZE as the limit. Unit: bytes. Default:
   * 0.
   */
  readonly FILES_MAXSIZE?: Input<'FILES_MAXSIZE'>;
  /** Files of another type, by their content, fail as other_type; empty for no limit. Default: []. */
  readonly FILES_TYPES?: Input<'FILES_TYPES'>;
  /**
   * The paths of files and images begin with the name of the host that has them. For hosts that do not share
   * the folder. Default: false.
   */
  readonly FILES_HOST_IN_PATH?: Input<'FILES_HOST_IN_PATH'>;
  /**
   * Folder of the images of ImagesPipeline, or s3://BUCKET/FOLDER. All nodes must share it, unless
   * FILES_HOST_IN_PATH is true. Default: null.
   */
  readonly IMAGES_STORE?: Input<'IMAGES_STORE'>;
  /** Access to the images in a bucket. private leaves it to the bucket. Default: "private". */
  readonly IMAGES_STORE_S3_ACL?: Input<'IMAGES_STORE_S3_ACL'>;
  /**
   * Field of an item with the URLs of its images. With the default, imageUrls is read too. Default:
   * "image_urls".
   */
  readonly IMAGES_URLS_FIELD?: Input<'IMAGES_URLS_FIELD'>;
  /** Field of an item that gets the results of its images. Default: "images". */
  readonly IMAGES_RESULT_FIELD?: Input<'IMAGES_RESULT_FIELD'>;
  /**
   * An image in IMAGES_STORE that is older is downloaded again; 0 downloads each image whenever an item names
   * it. Unit: days. Default: 90.
   */
  readonly IMAGES_EXPIRES?: Input<'IMAGES_EXPIRES'>;
  /** A narrower image fails as too_small. Unit: pixels. Default: 0. */
  readonly IMAGES_MIN_WIDTH?: Input<'IMAGES_MIN_WIDTH'>;
  /** A lower image fails as too_small. Unit: pixels. Default: 0. */
  readonly IMAGES_MIN_HEIGHT?: Input<'IMAGES_MIN_HEIGHT'>;
  /**
   * Follow redirects of files and images. When false, one that redirects fails, as in Scrapy. Default: false.
   */
  readonly MEDIA_ALLOW_REDIRECTS?: Input<'MEDIA_ALLOW_REDIRECTS'>;
  /**
   * For s3:// in FILES_STORE and IMAGES_STORE. Without it and AWS_SECRET_ACCESS_KEY, credentials come from
   * where AWS tools have them: a profile, or the role of the machine. Default: null.
   */
  readonly AWS_ACCESS_KEY_ID?: Input<'AWS_ACCESS_KEY_ID'>;
  /** Belongs to AWS_ACCESS_KEY_ID; never shown. Default: null. */
  readonly AWS_SECRET_ACCESS_KEY?: Input<'AWS_SECRET_ACCESS_KEY'>;
  /** Of temporary credentials; never shown. Default: null. */
  readonly AWS_SESSION_TOKEN?: Input<'AWS_SESSION_TOKEN'>;
  /** Region of the bucket. Default: null. */
  readonly AWS_REGION_NAME?: Input<'AWS_REGION_NAME'>;
  /** URL of an S3-compatible storage other than that of Amazon. Default: null. */
  readonly AWS_ENDPOINT_URL?: Input<'AWS_ENDPOINT_URL'>;
  /** Use https where AWS_ENDPOINT_URL does not say which. Default: true. */
  readonly AWS_USE_SSL?: Input<'AWS_USE_SSL'>;
  /** Check the TLS certificate of the storage. Default: true. */
  readonly AWS_VERIFY?: Input<'AWS_VERIFY'>;
  /** Requests in flight on one node. Unit: requests. Default: 16. */
  readonly CONCURRENT_REQUESTS?: Input<'CONCURRENT_REQUESTS'>;
  /** Requests in flight to one domain, over all nodes. Unit: requests. Default: 8. */
  readonly CONCURRENT_REQUESTS_PER_DOMAIN?: Input<'CONCURRENT_REQUESTS_PER_DOMAIN'>;
  /** Time between two requests to one domain, over all nodes. Unit: seconds. Default: 0. */
  readonly DOWNLOAD_DELAY?: Input<'DOWNLOAD_DELAY'>;
  /** Choose each delay at random between 1 and 1.5 times DOWNLOAD_DELAY. Default: true. */
  readonly RANDOMIZE_DOWNLOAD_DELAY?: Input<'RANDOMIZE_DOWNLOAD_DELAY'>;
  /**
   * What counts as one domain: each host (and port), or all hosts of a registered domain. Default: "host".
   */
  readonly DOMAIN_KEY?: Input<'DOMAIN_KEY'>;
  /**
   * Delay (seconds), concurrency and randomization of single domains, for all nodes together. A domain is a
   * host, with its port if that is not the default of the scheme, or the name of a meta.download_slot. A
   * field that is absent has the value of DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN or
   * RANDOMIZE_DOWNLOAD_DELAY. Default: {}.
   */
  readonly DOWNLOAD_SLOTS?: Input<'DOWNLOAD_SLOTS'>;
  /** Adapt the delay of each domain to its latency, for all nodes together. Default: false. */
  readonly AUTOTHROTTLE_ENABLED?: Input<'AUTOTHROTTLE_ENABLED'>;
  /** AutoThrottle: the delay of a domain before its first response. Unit: seconds. Default: 5. */
  readonly AUTOTHROTTLE_START_DELAY?: Input<'AUTOTHROTTLE_START_DELAY'>;
  /** AutoThrottle: the longest delay. Unit: seconds. Default: 60. */
  readonly AUTOTHROTTLE_MAX_DELAY?: Input<'AUTOTHROTTLE_MAX_DELAY'>;
  /**
   * AutoThrottle: how many requests of all nodes should be in flight to one domain, on average. Unit:
   * requests. Default: 1.
   */
  readonly AUTOTHROTTLE_TARGET_CONCURRENCY?: Input<'AUTOTHROTTLE_TARGET_CONCURRENCY'>;
  /** AutoThrottle: log the delay and the latency of every response. Default: false. */
  readonly AUTOTHROTTLE_DEBUG?: Input<'AUTOTHROTTLE_DEBUG'>;
  /** Time limit of one download, from the connection to the end of the body. Unit: seconds. Default: 180. */
  readonly DOWNLOAD_TIMEOUT?: Input<'DOWNLOAD_TIMEOUT'>;
  /** Keep the addresses of host names in memory, each for a minute. Default: true. */
  readonly DNSCACHE_ENABLED?: Input<'DNSCACHE_ENABLED'>;
  /**
   * Host names whose addresses a node keeps. Beyond it, the name used least recently is dropped. Unit: names.
   * Default: 10000.
   */
  readonly DNSCACHE_SIZE?: Input<'DNSCACHE_SIZE'>;
  /** Longest time to resolve a host name. Unit: seconds. Default: 60. */
  readonly DNS_TIMEOUT?: Input<'DNS_TIMEOUT'>;
  /**
   * Largest body, as received or decompressed. A larger one fails the download as too_large. 0 is no limit.
   * Unit: bytes. Default: 67108864.
   */
  readonly DOWNLOAD_MAXSIZE?: Input<'DOWNLOAD_MAXSIZE'>;
  /**
   * Elements, attributes, texts and comments that the body of a page may be parsed into for css(), xpath()
   * and $. A page with more fails as too_complex. Values of JSON, fields of CSV and tags of sitemaps may be
   * four times as many. 0 is no limit. Unit: nodes. Default: 750000.
   */
  readonly DOWNLOAD_MAX_NODES?: Input<'DOWNLOAD_MAX_NODES'>;
  /**
   * Memory of a node for bodies, until their pages end. Where they may need more, the oldest download
   * continues and the others pause. A page with a large body waits before its callback until there is room
   * for its tree. 0 is no limit. Unit: bytes. Default: 134217728.
   */
  readonly DOWNLOAD_BUFFER_LIMIT?: Input<'DOWNLOAD_BUFFER_LIMIT'>;
  /**
   * A body that arrives more slowly than this for 30 seconds fails the download as too_slow. 0 is no minimum.
   * The default is far below any real connection, so it only affects servers that keep a connection open
   * without sending. Unit: bytes per second. Default: 100.
   */
  readonly DOWNLOAD_MIN_RATE?: Input<'DOWNLOAD_MIN_RATE'>;
  /**
   * Fail and retry a download whose body ends too early. When false, the callback gets the part that was
   * received, and response.flags contains dataloss. Default: true.
   */
  readonly DOWNLOAD_FAIL_ON_DATALOSS?: Input<'DOWNLOAD_FAIL_ON_DATALOSS'>;
  /** A larger body is logged as a warning. 0 is never. Unit: bytes. Default: 33554432. */
  readonly DOWNLOAD_WARNSIZE?: Input<'DOWNLOAD_WARNSIZE'>;
  /**
   * The User-Agent header. Name your crawler and a contact address for the operators of a site. Default:
   * "crawlnode".
   */
  readonly USER_AGENT?: Input<'USER_AGENT'>;
  /**
   * Headers of every request, unless the request sets them itself. Default:
   * {"Accept":"text/html,application/xhtml+xml,application/xml;q=0.9,*\/*;q=0.8","Accept-Language":"en"}.
   */
  readonly DEFAULT_REQUEST_HEADERS?: Input<'DEFAULT_REQUEST_HEADERS'>;
  /**
   * Send the Referer header with links. It is stored with each link, so pending requests need more memory.
   * Default: false.
   */
  readonly REFERER_ENABLED?: Input<'REFERER_ENABLED'>;
  /**
   * What the Referer header contains with REFERER_ENABLED. The values are the names of the W3C Referrer
   * Policy. Default: "no-referrer-when-downgrade".
   */
  readonly REFERRER_POLICY?: Input<'REFERRER_POLICY'>;
  /**
   * Let every request connect to loopback, private and link-local addresses. When false, only startUrls, the
   * seeds of crawlnode seed, and links and redirects of their pages at private addresses may. Default: false.
   */
  readonly ALLOW_PRIVATE_ADDRESSES?: Input<'ALLOW_PRIVATE_ADDRESSES'>;
  /** Obey the robots.txt of each site (RFC 9309). Default: true. */
  readonly ROBOTSTXT_OBEY?: Input<'ROBOTSTXT_OBEY'>;
  /**
   * Name to look for in robots.txt; null stands for the request's own User-Agent, else for USER_AGENT.
   * Default: null.
   */
  readonly ROBOTSTXT_USER_AGENT?: Input<'ROBOTSTXT_USER_AGENT'>;
  /**
   * A longer Crawl-delay of robots.txt is shortened to this. 0 ignores Crawl-delay. Unit: seconds. Default:
   * 60.
   */
  readonly ROBOTSTXT_CRAWL_DELAY_MAX?: Input<'ROBOTSTXT_CRAWL_DELAY_MAX'>;
  /** Retry requests that failed for a temporary reason. Default: true. */
  readonly RETRY_ENABLED?: Input<'RETRY_ENABLED'>;
  /** Retries of one request, after the first attempt. Unit: retries. Default: 2. */
  readonly RETRY_TIMES?: Input<'RETRY_TIMES'>;
  /** Statuses that are retried. Default: [500,502,503,504,522,524,408,429]. */
  readonly RETRY_HTTP_CODES?: Input<'RETRY_HTTP_CODES'>;
  /** Added to the priority of a request at each retry. Default: -1. */
  readonly RETRY_PRIORITY_ADJUST?: Input<'RETRY_PRIORITY_ADJUST'>;
  /**
   * Delay before the first retry. It doubles with each further retry, and is varied at random. Unit: seconds.
   * Default: 1.
   */
  readonly RETRY_BACKOFF?: Input<'RETRY_BACKOFF'>;
  /** Longest delay before a retry. Unit: seconds. Default: 60. */
  readonly RETRY_BACKOFF_MAX?: Input<'RETRY_BACKOFF_MAX'>;
  /** Follow redirects: each hop is a new request. Default: true. */
  readonly REDIRECT_ENABLED?: Input<'REDIRECT_ENABLED'>;
  /** A longer Retry-After of a site is shortened to this. Unit: seconds. Default: 3600. */
  readonly RETRY_AFTER_MAX?: Input<'RETRY_AFTER_MAX'>;
  /** Added to the priority of a request at each redirect. Default: 2. */
  readonly REDIRECT_PRIORITY_ADJUST?: Input<'REDIRECT_PRIORITY_ADJUST'>;
  /** Maximum number of redirects of one request. Unit: hops. Default: 20. */
  readonly REDIRECT_MAX_TIMES?: Input<'REDIRECT_MAX_TIMES'>;
  /**
   * Follow <meta http-equiv="refresh"> like a redirect. A page that refreshes to itself is processed.
   * Default: true.
   */
  readonly METAREFRESH_ENABLED?: Input<'METAREFRESH_ENABLED'>;
  /** Elements in which a meta refresh is not followed. Default: ["noscript"]. */
  readonly METAREFRESH_IGNORE_TAGS?: Input<'METAREFRESH_IGNORE_TAGS'>;
  /** A meta refresh with this delay or a longer one is not followed. Unit: seconds. Default: 100. */
  readonly METAREFRESH_MAXDELAY?: Input<'METAREFRESH_MAXDELAY'>;
  /**
   * Ask for pages that are crawled again (refresh rules, or a DUPEFILTER_CLASS whose fingerprints expire)
   * with the ETag and Last-Modified of their last download. One that has not changed (304) is done without
   * its callback. Default: true.
   */
  readonly CONDITIONAL_REQUESTS?: Input<'CONDITIONAL_REQUESTS'>;
  /** Statuses outside 200-299 that reach the callback. Default: []. */
  readonly HTTPERROR_ALLOWED_CODES?: Input<'HTTPERROR_ALLOWED_CODES'>;
  /** Every status reaches the callback. Default: false. */
  readonly HTTPERROR_ALLOW_ALL?: Input<'HTTPERROR_ALLOW_ALL'>;
  /** Maximum number of links between a seed and a page. 0 is no limit. Unit: links. Default: 0. */
  readonly DEPTH_LIMIT?: Input<'DEPTH_LIMIT'>;
  /** Subtracted from the priority of a request, once for each level of its depth. Default: 0. */
  readonly DEPTH_PRIORITY?: Input<'DEPTH_PRIORITY'>;
  /**
   * A link whose path has more segments than this is not followed. 0 is no limit. Unit: segments. Default: 0.
   */
  readonly URL_PATH_DEPTH_LIMIT?: Input<'URL_PATH_DEPTH_LIMIT'>;
  /**
   * A link whose path has the same segment more often than this is not followed: /a/b/a/b/a/b has three times
   * the segment a. 0 is no limit. Unit: times. Default: 0.
   */
  readonly URL_REPEATED_SEGMENTS_LIMIT?: Input<'URL_REPEATED_SEGMENTS_LIMIT'>;
  /**
   * Links to a domain are dropped once so many of its requests were accepted, on all nodes, since the crawl
   * began or last finished; 0 is no limit. Start requests and seeds count, and are never dropped. Unit:
   * pages. Default: 0.
   */
  readonly URL_PAGES_PER_DOMAIN_LIMIT?: Input<'URL_PAGES_PER_DOMAIN_LIMIT'>;
  /** A link with a longer URL is not followed. 0 is no limit. Unit: characters. Default: 2083. */
  readonly URLLENGTH_LIMIT?: Input<'URLLENGTH_LIMIT'>;
  /** Store the cookies that sites set, for all nodes, and send them back. Default: true. */
  readonly COOKIES_ENABLED?: Input<'COOKIES_ENABLED'>;
  /** Log the cookies of each request and response, with their values, at level DEBUG. Default: false. */
  readonly COOKIES_DEBUG?: Input<'COOKIES_DEBUG'>;
  /**
   * Longest Cookie header that is made of the cookies of a jar. Beyond it, the largest cookies are left out
   * first, with a warning for each domain. 0 is no limit. Unit: bytes. Default: 8192.
   */
  readonly COOKIES_MAX_HEADER?: Input<'COOKIES_MAX_HEADER'>;
  /**
   * Maximum number of cookie jars (meta.cookiejar) of a crawl. Above it, the jar whose cookies have not
   * changed for the longest time is deleted. Unit: jars. Default: 10000.
   */
  readonly COOKIES_MAX_JARS?: Input<'COOKIES_MAX_JARS'>;
  /**
   * Use proxies. False connects to every site directly, whatever the other settings and meta.proxy say.
   * Default: true.
   */
  readonly HTTPPROXY_ENABLED?: Input<'HTTPPROXY_ENABLED'>;
  /**
   * The proxy of http:// pages. The environment variable http_proxy sets it too. Pages of this machine
   * (localhost, 127.0.0.0/8) are requested directly. Default: null.
   */
  readonly HTTP_PROXY?: Input<'HTTP_PROXY'>;
  /**
   * The proxy of https:// pages. The environment variable https_proxy sets it too. Otherwise as HTTP_PROXY.
   * Default: null.
   */
  readonly HTTPS_PROXY?: Input<'HTTPS_PROXY'>;
  /**
   * Hosts that are requested directly, separated by commas: a domain stands for itself and its subdomains,
   * 10.0.0.0/8 for the addresses of a network, * for every host. It applies to HTTP_PROXY, HTTPS_PROXY and
   * PROXIES. The environment variable no_proxy sets it too. Default: null.
   */
  readonly NO_PROXY?: Input<'NO_PROXY'>;
  /**
   * Proxies of all requests that name none: a list, or the path of a file with one on each line. A proxy is
   * written as http://user:password@host:port (or https://, socks5://) or host:port:user:password. Default:
   * [].
   */
  readonly PROXIES?: Input<'PROXIES'>;
  /**
   * Which of the PROXIES a request uses: the next one in turn; always the same one for its domain; or always
   * the same one for its meta.cookiejar (without one, for its domain). Default: "rotate".
   */
  readonly PROXY_SELECTION?: Input<'PROXY_SELECTION'>;
  /**
   * How long a node does not use a proxy that failed. Doubled with each further failure, up to 16 times.
   * Unit: seconds. Default: 30.
   */
  readonly PROXY_REST?: Input<'PROXY_REST'>;
  /**
   * Seeds in a start_urls key may name a proxy. Then anybody who can write there can route requests of the
   * crawl through any host. Default: false.
   */
  readonly PROXY_FROM_SEEDS?: Input<'PROXY_FROM_SEEDS'>;
  /**
   * Keep every page in a file and do not download it again, for development and tests without a network. A
   * request with meta.dont_cache does not use the cache. Default: false.
   */
  readonly HTTPCACHE_ENABLED?: Input<'HTTPCACHE_ENABLED'>;
  /**
   * The folder of the cache, with a folder for each spider. All nodes of a machine may share it. Default:
   * ".crawlnode/httpcache".
   */
  readonly HTTPCACHE_DIR?: Input<'HTTPCACHE_DIR'>;
  /** Pages older than this are downloaded again. 0 is never. Unit: seconds. Default: 0. */
  readonly HTTPCACHE_EXPIRATION_SECS?: Input<'HTTPCACHE_EXPIRATION_SECS'>;
  /** Responses with these statuses are not cached. Default: []. */
  readonly HTTPCACHE_IGNORE_HTTP_CODES?: Input<'HTTPCACHE_IGNORE_HTTP_CODES'>;
  /** Pages that are not in the cache fail as not_cached, and nothing is downloaded. Default: false. */
  readonly HTTPCACHE_IGNORE_MISSING?: Input<'HTTPCACHE_IGNORE_MISSING'>;
  /** Pages of these URL schemes are not cached. Default: ["file"]. */
  readonly HTTPCACHE_IGNORE_SCHEMES?: Input<'HTTPCACHE_IGNORE_SCHEMES'>;
  /** Compress the files of the cache. Default: false. */
  readonly HTTPCACHE_GZIP?: Input<'HTTPCACHE_GZIP'>;
  /**
   * Modules that see every request before its download and every response after it: { ./middlewares/sign.ts:
   * 450 }. Requests pass from the lowest number to the highest, responses from the highest to the lowest.
   * Built-in features have the numbers of Scrapy's middleware. Default: {}.
   */
  readonly DOWNLOADER_MIDDLEWARES?: Input<'DOWNLOADER_MIDDLEWARES'>;
  /**
   * Modules that see every response before its callback and all that the callback yields: {
   * ./middlewares/tag.ts: 543 }. Responses pass from the lowest number to the highest, results from the
   * highest to the lowest. Default: {}.
   */
  readonly SPIDER_MIDDLEWARES?: Input<'SPIDER_MIDDLEWARES'>;
}
