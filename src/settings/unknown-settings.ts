/** Settings of Scrapy, Scrapy-Redis and earlier versions that crawlnode does not have, each with what to do instead. */
import { didYouMean } from './nearest.js';

const deleteIt = 'delete it';

const adviceByName: readonly (readonly [names: RegExp, advice: string])[] = [
  [/^FEED_(URI|FORMAT)$/, 'name files in FEEDS, or with -o FILE'],
  [
    /^FEED_(EXPORT_(FIELDS|INDENT|BATCH_ITEM_COUNT)|STORE_EMPTY)$/,
    'use fields, indent, batch_item_count and store_empty of a file in FEEDS',
  ],
  [/^FEED_(EXPORT|STOR|TEMPDIR|EMPTY|URI_PARAMS)/, 'files are UTF-8 on a local disk: delete it'],
  [/^LOG_(ENABLED|STDOUT)$/, 'LOG_LEVEL: SILENT keeps the log quiet'],
  [
    /^LOG_(ENCODING|FORMATTER|DATEFORMAT|SHORT_NAMES|FILE_APPEND)$/,
    'LOG_FORMAT chooses text or JSON lines: delete it',
  ],
  [
    /^REQUEST_FINGERPRINTER_(CLASS|IMPLEMENTATION)$/,
    'use REQUEST_FINGERPRINTER, or REQUEST_MODULE for one of your own',
  ],
  [/^CONCURRENT_REQUESTS_PER_IP$/, 'use CONCURRENT_REQUESTS_PER_DOMAIN'],
  [/^(BOT_NAME|BOT_VERSION)$/, 'use USER_AGENT'],
  [/^(STATS_CLASS|STATS_DUMP|STATSMAILER_RCPTS|TELNETCONSOLE_.*)$/, 'see "crawlnode stats": delete it'],
  [
    /^(DOWNLOADER|SPIDER)_MIDDLEWARES_BASE$/,
    'the built-in middleware stays at its number; DOWNLOADER_MIDDLEWARES or SPIDER_MIDDLEWARES switches it off',
  ],
  [
    /^HTTPCACHE_(POLICY|STORAGE|DBM_MODULE|ALWAYS_STORE|IGNORE_RESPONSE_CACHE_CONTROLS)$/,
    'the cache holds every page as a file, as the DummyPolicy does: delete it',
  ],
  [
    /^IMAGES_THUMBS$/,
    'images are stored as they are: for thumbnails see "Images" in docs/guide/files-and-images.md',
  ],
  [
    /^(FILES|IMAGES)_STORE_(GCS_ACL)$|^GCS_|^FTP_/,
    'files are written to a folder or to S3-compatible storage (Google has an endpoint for that), see docs/guide/files-and-images.md',
  ],
  [/^(TWISTED_REACTOR|ASYNCIO_EVENT_LOOP|REACTOR_.*|DNS_RESOLVER)$/, deleteIt],
  [/^(MEMUSAGE|MEMDEBUG|MAIL|ADDONS|COMMANDS_MODULE|NEWSPIDER_MODULE|TEMPLATES_DIR|EDITOR)(_|$)/, deleteIt],
  [/^(SPIDER_LOADER_.*|SCHEDULER_(DISK|MEMORY|PRIORITY)_QUEUE|DEPTH_STATS_VERBOSE)$/, deleteIt],
  [
    /^DUPEFILTER_KEY$/,
    'use SCHEDULER_DUPEFILTER_KEY, with %(spider)s; for a key of each day, a job: "crawl SPIDER --job NAME"',
  ],
];

/** Settings of earlier versions. They are refused in the environment too, where other unknown names are not read. */
export const removedSettings: readonly string[] = ['SCHEDULER_PARTITIONS', 'REDIS_PARTITION_URLS'];

const oneStore =
  ', which is gone: a crawl is in one store. One Redis serves some 7,000 pages a second. A Redis Cluster keeps a crawl available and spreads many crawls. Divide a larger crawl by domain into several crawls (docs/guide/redis.md)';

/** The text after "unknown setting NAME": what to do instead of a setting that has gone or is Scrapy's, else the nearest known name. */
export function unknownSettingAdvice(name: string, knownNames: readonly string[]): string {
  if (removedSettings.includes(name)) return oneStore;
  const advice = adviceFor(name);
  return advice === undefined ? didYouMean(name, knownNames) : ` of Scrapy: ${advice}`;
}

/** Whether it is known what to do instead of this setting. */
export function hasReplacement(name: string): boolean {
  return removedSettings.includes(name) || adviceFor(name) !== undefined;
}

function adviceFor(name: string): string | undefined {
  return adviceByName.find(([names]) => names.test(name))?.[1];
}
