/** Convert settings, with Scrapy's names and units, into the options of node, frontier and downloader. */
import type { DownloaderOptions } from '../../downloader/downloader.js';
import { dupefilterOf } from '../../frontier/dupefilter-classes.js';
import type { AutoThrottle, DomainLimits, Shape, Tunables } from '../../frontier/frontier.js';
import { MAX_ROBOTS_BYTES } from '../../frontier/robots/robots-state.js';
import { fingerprint } from '../../http/message/fingerprint.js';
import type { Request } from '../../http/message/request.js';
import type {
  LinkOptions,
  MetaRefreshOptions,
  NodeOptions,
  RetryOptions,
  RobotsOptions,
} from '../../node/node-options.js';
import type { Settings } from '../../settings/schema.js';
import { proxyOptionsOf } from './proxy-options.js';
import { requestModuleOf } from './request-module.js';

const ms = (seconds: number) => Math.round(seconds * 1000);

/** The settings that all nodes of a crawl must share. */
export function shapeOf(settings: Settings): Shape {
  return {
    queueClass: settings.SCHEDULER_QUEUE_CLASS,
    dupefilter: dupefilterOf(settings),
    fingerprinter: fingerprinterOf(settings),
    domainKey: settings.DOMAIN_KEY,
    persist: settings.SCHEDULER_PERSIST,
  };
}

/** Includes the id of a REQUEST_MODULE: nodes with other rules would identify and order requests differently. */
function fingerprinterOf(settings: Settings): string {
  const module = requestModuleOf(settings);
  if (module === null) return settings.REQUEST_FINGERPRINTER;
  return module.fingerprint === null
    ? `${settings.REQUEST_FINGERPRINTER}, module ${module.id}`
    : `module ${module.id}`;
}

/** The fingerprint of a request by REQUEST_MODULE or REQUEST_FINGERPRINTER; a spider may have one of its own. */
export function identityOf(
  settings: Pick<Settings, 'REQUEST_FINGERPRINTER' | 'REQUEST_MODULE'>,
): (request: Request) => string {
  const algorithm = { algorithm: settings.REQUEST_FINGERPRINTER };
  return requestModuleOf(settings)?.fingerprint ?? ((request) => fingerprint(request, algorithm));
}

/** Which links are followed, and how requests are identified. */
export function linkOptionsOf(settings: Settings): LinkOptions {
  const module = requestModuleOf(settings);
  return {
    depthLimit: settings.DEPTH_LIMIT,
    depthPriority: settings.DEPTH_PRIORITY,
    urlLengthLimit: settings.URLLENGTH_LIMIT,
    ...trapsOf(settings),
    ...(settings.REFERER_ENABLED && { referrerPolicy: settings.REFERRER_POLICY }),
    fingerprint: identityOf(settings),
    ...(module !== null && { hasOwnIdentity: module.fingerprint !== null, priority: module.priority }),
    proxyFromSeeds: settings.PROXY_FROM_SEEDS,
    allowPrivateAddresses: settings.ALLOW_PRIVATE_ADDRESSES,
  };
}

function trapsOf(settings: Settings): Pick<LinkOptions, 'traps'> {
  const traps = {
    pathDepth: settings.URL_PATH_DEPTH_LIMIT,
    repeatedSegments: settings.URL_REPEATED_SEGMENTS_LIMIT,
  };
  return traps.pathDepth === 0 && traps.repeatedSegments === 0 ? {} : { traps };
}

/** Which failures are retried, how often and when. */
export function retryOptionsOf(settings: Settings): RetryOptions {
  return {
    enabled: settings.RETRY_ENABLED,
    times: settings.RETRY_TIMES,
    httpCodes: settings.RETRY_HTTP_CODES,
    priorityAdjust: settings.RETRY_PRIORITY_ADJUST,
    baseMs: ms(settings.RETRY_BACKOFF),
    capMs: ms(settings.RETRY_BACKOFF_MAX),
    retryAfterCapMs: ms(settings.RETRY_AFTER_MAX),
  };
}

/** How robots.txt is obeyed; null when it is not. */
export function robotsOptionsOf(settings: Settings): RobotsOptions | null {
  if (!settings.ROBOTSTXT_OBEY) return null;
  return {
    userAgent: settings.ROBOTSTXT_USER_AGENT,
    defaultUserAgent: settings.USER_AGENT,
    crawlDelayMaxMs: ms(settings.ROBOTSTXT_CRAWL_DELAY_MAX),
  };
}

/** DOWNLOAD_SLOTS by domain. A host is also known by its lower-case name, which is that of its domain. */
function slotsOf({ DOWNLOAD_SLOTS }: Settings): Tunables['slots'] {
  const slots: Record<string, DomainLimits> = {};
  for (const [name, { delay, concurrency, randomize_delay }] of Object.entries(DOWNLOAD_SLOTS)) {
    const limits = {
      ...(delay !== undefined && { delayMs: ms(delay) }),
      ...(concurrency !== undefined && { concurrency }),
      ...(randomize_delay !== undefined && { randomizeDelay: randomize_delay }),
    };
    slots[name] = limits;
    slots[name.toLowerCase()] ??= limits;
  }
  return Object.keys(slots).length === 0 ? null : slots;
}

function autoThrottleOf(settings: Settings): AutoThrottle | null {
  if (!settings.AUTOTHROTTLE_ENABLED) return null;
  return {
    startDelayMs: ms(settings.AUTOTHROTTLE_START_DELAY),
    maxDelayMs: ms(settings.AUTOTHROTTLE_MAX_DELAY),
    targetConcurrency: settings.AUTOTHROTTLE_TARGET_CONCURRENCY,
  };
}

function metaRefreshOf(settings: Settings): MetaRefreshOptions | null {
  if (!settings.METAREFRESH_ENABLED) return null;
  return {
    maxDelayS: settings.METAREFRESH_MAXDELAY,
    ignoreTags: settings.METAREFRESH_IGNORE_TAGS,
  };
}

/** WAIT_TIMEOUT where somebody waits for the end of the crawl. */
const AWAITED_TIMEOUT_S = 600;

/** How long a store that is away and a feed that cannot be written are waited for; 0 is without limit. */
export function waitTimeoutMs({ WAIT_TIMEOUT }: Pick<Settings, 'WAIT_TIMEOUT'>, isAwaited: boolean): number {
  return ms(WAIT_TIMEOUT ?? (isAwaited ? AWAITED_TIMEOUT_S : 0));
}

type CommandOptions = Pick<
  NodeOptions,
  'exitWhenDone' | 'feeds' | 'speaksJson' | 'endsStuckProcess' | 'awaitsFinalTotals' | 'metrics'
>;

/** Where a command serves metrics; null where it serves none. @param crawl their label */
export function metricsOptionsOf(
  { METRICS_PORT: port, METRICS_HOST: host }: Pick<Settings, 'METRICS_PORT' | 'METRICS_HOST'>,
  crawl: string,
): NodeOptions['metrics'] {
  return port === 0 ? null : { host, port, crawl };
}

/** @param command what no setting says; `isAwaited`: somebody waits for the end of the crawl */
export function nodeOptionsOf(
  settings: Settings,
  { isAwaited, ...command }: CommandOptions & { readonly isAwaited: boolean },
): NodeOptions {
  return {
    ...command,
    concurrency: settings.CONCURRENT_REQUESTS,
    seedBatch: settings.REDIS_START_URLS_BATCH_SIZE,
    startTimeoutMs: ms(settings.START_TIMEOUT),
    graceMs: ms(settings.SHUTDOWN_TIMEOUT),
    waitTimeoutMs: waitTimeoutMs(settings, isAwaited),
    heartbeatMs: ms(settings.HEARTBEAT_INTERVAL),
    reports: { historyMinutes: Math.ceil(settings.STATS_HISTORY / 60), scaleMax: settings.SCALE_MAX },
    mainLoopTimeoutMs: ms(settings.MAIN_LOOP_TIMEOUT),
    allowedStatuses: settings.HTTPERROR_ALLOWED_CODES,
    allowAllStatuses: settings.HTTPERROR_ALLOW_ALL,
    autoThrottleDebug: settings.AUTOTHROTTLE_ENABLED && settings.AUTOTHROTTLE_DEBUG,
    maxItems: settings.MAX_ITEMS_PER_PAGE,
    maxNodes: settings.DOWNLOAD_MAX_NODES,
    callbackTimeoutMs: ms(settings.CALLBACK_TIMEOUT),
    keepsErrors: settings.CALLBACK_ERROR === 'keep',
    // The cache would take a 304 for the page.
    conditionalRequests: settings.CONDITIONAL_REQUESTS && !settings.HTTPCACHE_ENABLED,
    redirectMaxTimes: settings.REDIRECT_ENABLED ? settings.REDIRECT_MAX_TIMES : null,
    metaRefresh: metaRefreshOf(settings),
    maxHops: settings.REDIRECT_MAX_TIMES,
    redirectPriorityAdjust: settings.REDIRECT_PRIORITY_ADJUST,
    retry: retryOptionsOf(settings),
    robots: robotsOptionsOf(settings),
    links: linkOptionsOf(settings),
    cookies: {
      enabled: settings.COOKIES_ENABLED,
      debug: settings.COOKIES_DEBUG,
      maxHeaderBytes: settings.COOKIES_MAX_HEADER,
      maxJars: settings.COOKIES_MAX_JARS,
    },
    shape: shapeOf(settings),
    tunables: {
      delayMs: ms(settings.DOWNLOAD_DELAY),
      randomizeDelay: settings.RANDOMIZE_DOWNLOAD_DELAY,
      concurrencyPerDomain: settings.CONCURRENT_REQUESTS_PER_DOMAIN,
      nodeTimeoutMs: ms(settings.NODE_TIMEOUT),
      failedLimit: settings.FAILED_LIMIT,
      queueLimit: settings.SCHEDULER_QUEUE_LIMIT,
      memoryLimit: settings.SCHEDULER_MEMORY_LIMIT,
      pagesPerDomain: settings.URL_PAGES_PER_DOMAIN_LIMIT,
      slots: slotsOf(settings),
      autothrottle: autoThrottleOf(settings),
    },
    budgets: {
      maxPages: settings.CLOSESPIDER_PAGECOUNT,
      maxItems: settings.CLOSESPIDER_ITEMCOUNT,
      maxErrors: settings.CLOSESPIDER_ERRORCOUNT,
      maxRunMs: ms(settings.CLOSESPIDER_TIMEOUT),
    },
    flushOnStart: settings.SCHEDULER_FLUSH_ON_START,
    maxIdleMs: ms(settings.MAX_IDLE_TIME_BEFORE_CLOSE),
  };
}

export function downloaderOptionsOf(settings: Settings): DownloaderOptions {
  const headers = Object.entries(settings.DEFAULT_REQUEST_HEADERS).filter(([, value]) => value !== null);
  return {
    timeoutMs: ms(settings.DOWNLOAD_TIMEOUT),
    maxBodyBytes: settings.DOWNLOAD_MAXSIZE,
    robotsBytes: MAX_ROBOTS_BYTES,
    warnBodyBytes: settings.DOWNLOAD_WARNSIZE,
    minBytesPerSecond: settings.DOWNLOAD_MIN_RATE,
    failOnDataLoss: settings.DOWNLOAD_FAIL_ON_DATALOSS,
    bufferBytes: settings.DOWNLOAD_BUFFER_LIMIT,
    allowPrivateAddresses: settings.ALLOW_PRIVATE_ADDRESSES,
    userAgent: settings.USER_AGENT,
    defaultHeaders: Object.fromEntries(headers) as Record<string, string>,
    concurrency: settings.CONCURRENT_REQUESTS,
    dns: {
      cacheSize: settings.DNSCACHE_ENABLED ? settings.DNSCACHE_SIZE : 0,
      timeoutMs: ms(settings.DNS_TIMEOUT),
    },
    proxies: proxyOptionsOf(settings),
  };
}
