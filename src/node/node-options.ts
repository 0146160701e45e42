/**
 * The arguments and the result of `crawlAsNode`. `crawler/project/settings-to-options.ts` fills them from the settings.
 * Every value is plain (ms, bytes, counts), so that nothing in this folder reads a setting by name.
 */
import type { Downloader } from '../downloader/downloader.js';
import type { FeedTrouble } from '../feed-outbox.js';
import type {
  Budgets,
  CrawlState,
  Frontier,
  NodeInfo,
  RecordedRequest,
  Shape,
  Snapshot,
  Tunables,
} from '../frontier/frontier.js';
import type { OpenOptions } from '../frontier/open-options.js';
import type { Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';
import type { TrapLimits } from '../http/url/url-trap.js';
import type { Logger } from '../log.js';
import type { ItemPipelines } from '../pipelines/item-pipeline.js';
import type { Spider } from '../spider/spider.js';
import type { NodeStats } from '../stats/stats.js';
import type { Extensions } from './extensions/load-extensions.js';
import type { ReferrerPolicy } from './links/referer.js';
import type { Middleware } from './middleware/load-middleware.js';
import type { DeadEnd } from './page/dead-ends.js';
import type { Measures } from './telemetry/measures.js';
import type { MetricsOptions } from './telemetry/metrics-server.js';
import type { Handed, ReportOptions } from './telemetry/reporter.js';

/** How requests are retried (`retry-plan.ts`). */
export interface RetryOptions {
  /** RETRY_ENABLED. */
  readonly enabled: boolean;
  /** RETRY_TIMES: retries after the first attempt; `meta.max_retry_times` overrides it for a request. */
  readonly times: number;
  /** RETRY_HTTP_CODES. */
  readonly httpCodes: readonly number[];
  /** RETRY_PRIORITY_ADJUST, added to the request's priority. */
  readonly priorityAdjust: number;
  /** Backoff of the first retry, doubled with each further one. */
  readonly baseMs: number;
  /** The longest backoff of our own. */
  readonly capMs: number;
  /** The longest Retry-After that is honoured; a longer one is cut to this. */
  readonly retryAfterCapMs: number;
}

/** Which requests are followed (`links/filter-links.ts`, `seed-requests.ts`), and how they are identified. */
export interface LinkOptions {
  /** DEPTH_LIMIT; 0 is no limit. */
  readonly depthLimit: number;
  /** DEPTH_PRIORITY; the priority falls by depth × this. 0 leaves it alone. */
  readonly depthPriority: number;
  /** URLLENGTH_LIMIT in characters; 0 is no limit. */
  readonly urlLengthLimit: number;
  /** URL_PATH_DEPTH_LIMIT and URL_REPEATED_SEGMENTS_LIMIT; absent for no limits. */
  readonly traps?: TrapLimits;
  /** REQUEST_FINGERPRINTER or REQUEST_MODULE as a function; a spider's own `fingerprint` goes before it. 40 hex digits. */
  readonly fingerprint: (request: Request) => string;
  /** `fingerprint` comes from a REQUEST_MODULE, which may use more of a request than its URL, method and body. */
  readonly hasOwnIdentity?: boolean;
  /** The priority of a request by REQUEST_MODULE; absent or null where it stays as it is. */
  readonly priority?: ((request: Request, depth: number) => number) | null;
  /** REFERRER_POLICY with REFERER_ENABLED; absent where no Referer header is sent. */
  readonly referrerPolicy?: ReferrerPolicy;
  /** PROXY_FROM_SEEDS: untrusted seeds may name a proxy. */
  readonly proxyFromSeeds: boolean;
  /** ALLOW_PRIVATE_ADDRESSES: untrusted seeds may have a private address. */
  readonly allowPrivateAddresses: boolean;
}

/** Which meta refreshes are followed (`page/meta-refresh-request.ts`). */
export interface MetaRefreshOptions {
  /** METAREFRESH_MAXDELAY, in seconds: one with this delay or a longer one is not followed. */
  readonly maxDelayS: number;
  /** METAREFRESH_IGNORE_TAGS. */
  readonly ignoreTags: readonly string[];
}

/** The cookies of the crawl (`cookies/session-cookies.ts`). */
export interface CookieOptions {
  /** COOKIES_ENABLED. */
  readonly enabled: boolean;
  /** COOKIES_DEBUG. */
  readonly debug: boolean;
  /** COOKIES_MAX_HEADER; 0 for no limit. */
  readonly maxHeaderBytes: number;
  /** COOKIES_MAX_JARS. */
  readonly maxJars: number;
}

/** How robots.txt is obeyed (`robots/`). */
export interface RobotsOptions {
  /** ROBOTSTXT_USER_AGENT; null for that of the request, else `defaultUserAgent`. */
  readonly userAgent: string | null;
  /** USER_AGENT. */
  readonly defaultUserAgent: string;
  /** ROBOTSTXT_CRAWL_DELAY_MAX: a longer Crawl-delay is cut to this; 0 ignores all. */
  readonly crawlDelayMaxMs: number;
}

/** Plain values only; see each setting in `config/crawlnode.yaml`. */
export interface NodeOptions {
  /** CONCURRENT_REQUESTS: pages processed at once by this node. */
  readonly concurrency: number;
  /** REDIS_START_URLS_BATCH_SIZE; null is `concurrency`. */
  readonly seedBatch: number | null;
  /** `--exit-when-done`: leave on true completion; otherwise stay and wait for seeds. */
  readonly exitWhenDone: boolean;
  /** START_TIMEOUT: how long a node under `exitWhenDone` waits for the first seed. */
  readonly startTimeoutMs: number;
  /** How long a drain may take before what is left is released. */
  readonly graceMs: number;
  /** WAIT_TIMEOUT: how long a store that is away and a feed that cannot be written are waited for; 0 is without limit. */
  readonly waitTimeoutMs: number;
  /** Interval of heartbeats and of reconcile; NODE_TIMEOUT / 6 unless set. */
  readonly heartbeatMs: number;
  readonly reports: ReportOptions;
  /** Null where this node serves no metrics: without METRICS_PORT, and where those of its command are served together. */
  readonly metrics: MetricsOptions | null;
  /** MAIN_LOOP_TIMEOUT: without main-loop progress for so long, heartbeats stop. */
  readonly mainLoopTimeoutMs: number;
  /** Every line of stderr is JSON. */
  readonly speaksJson: boolean;
  /** The process is ended when its main loop hangs for too long; in a program only the crawl ends, with an error. */
  readonly endsStuckProcess: boolean;
  /** HTTPERROR_ALLOWED_CODES. */
  readonly allowedStatuses: readonly number[];
  /** HTTPERROR_ALLOW_ALL. */
  readonly allowAllStatuses: boolean;
  /** AUTOTHROTTLE_DEBUG: log the delay and the latency of every response. */
  readonly autoThrottleDebug: boolean;
  /** MAX_ITEMS_PER_PAGE: a page that yields more fails as `too_many_items`; at most MAX_SETTLE_ITEMS. */
  readonly maxItems: number;
  /** DOWNLOAD_MAX_NODES; 0 for no limit. */
  readonly maxNodes: number;
  /** CALLBACK_TIMEOUT: an asynchronous callback that is not over after this time fails its page as `callback_timeout`. */
  readonly callbackTimeoutMs: number;
  /** CALLBACK_ERROR `keep`: what a page gave before an error is committed; `keptReason` marks it in the failed list. */
  readonly keepsErrors: boolean;
  /**
   * CONDITIONAL_REQUESTS, except with an HTTP cache: pages that are crawled again are requested with their ETag and Last-
   * Modified.
   */
  readonly conditionalRequests: boolean;
  /** REDIRECT_MAX_TIMES; null when redirects are off (REDIRECT_ENABLED false). */
  readonly redirectMaxTimes: number | null;
  /** What is followed of meta refreshes; null when METAREFRESH_ENABLED is false. */
  readonly metaRefresh: MetaRefreshOptions | null;
  /** REDIRECT_MAX_TIMES also where redirects are off: how often middleware may replace a request by another one, or a meta refresh be followed. */
  readonly maxHops: number;
  /** REDIRECT_PRIORITY_ADJUST. */
  readonly redirectPriorityAdjust: number;
  readonly retry: RetryOptions;
  /** Null when robots.txt is not obeyed (ROBOTSTXT_OBEY false). */
  readonly robots: RobotsOptions | null;
  readonly links: LinkOptions;
  readonly cookies: CookieOptions;
  /** What join tells the store. `tunables.nodeTimeoutMs` also paces recovery; `shape.domainKey` names domains. */
  readonly shape: Shape;
  readonly tunables: Tunables;
  readonly budgets: Budgets;
  /** SCHEDULER_FLUSH_ON_START: begin a new run from nothing, where no other node lives. */
  readonly flushOnStart: boolean;
  /** MAX_IDLE_TIME_BEFORE_CLOSE: leave when all nodes together have had nothing to do for so long; 0 is never. */
  readonly maxIdleMs: number;
  /**
   * The exit code depends on the totals of the run. So a node that leaves at the end waits until no page is in progress.
   */
  readonly awaitsFinalTotals: boolean;
  /** Feed ids of the `-o` files of this command (`feedId`); none without `-o`. */
  readonly feeds: readonly string[];
}

/** Numbers of this node for a progress line, once a second. Reading them costs little. */
export interface NodeProgress {
  /** Pages this node has settled as done or failed. */
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly failed: number;
  readonly items: number;
  /** Pages in progress now. */
  readonly inFlight: number;
  /** The last state of the crawl that the store sent; null before the first answer. */
  readonly crawl: CrawlState | null;
  /** Why the crawl does not advance, in a few words, such as `the frontier cannot be reached`; null when it does. */
  readonly trouble: string | null;
}

/** Everything a node works with. The node closes none of it; the caller does. */
export interface NodeDeps {
  readonly frontier: Frontier;
  /** Reads the fields of a record that a rebuild needs (`Frontier.rebuild`). */
  readonly readRecord: (id: string, record: string) => RecordedRequest | null;
  /** The same store again, for the heartbeat thread's own connection. */
  readonly open: OpenOptions;
  readonly node: NodeInfo;
  /** The named job, null when unnamed. */
  readonly job: string | null;
  /** The crawl as arguments of a command: `shop`, `shop --job may`. */
  readonly crawlArguments: string;
  /** The node calls `opened()` after joining and `closed(reason)` at the end. */
  readonly spider: Spider;
  readonly downloader: Downloader;
  /** The node calls `open()` before the first page and `close()` at the end. */
  readonly pipelines: ItemPipelines;
  /** The stats of the project's code. The node writes changes that belong to no page. */
  readonly stats: NodeStats;
  /** Collects what only metrics need; null without METRICS_PORT. */
  readonly measures?: Measures | null;
  /** Null without any. The node opens and closes them like the pipelines. */
  readonly extensions?: Extensions | null;
  /** Null without any. The node opens and closes it like the pipelines. */
  readonly middleware?: Middleware | null;
  readonly options: NodeOptions;
  readonly log: Logger;
  /** First SIGINT or SIGTERM: finish what is in progress, then leave. */
  readonly drain: AbortSignal;
  /** The second one: release everything and leave at once. */
  readonly force: AbortSignal;
  /**
   * Why feeds or pipelines do not progress: an outbox exceeds its limit while its file cannot be written or its pipeline
   * fails. With `isIdle`, when nothing else is to be done, any failing pipeline counts. Null when all is well. The node
   * ends if this lasts.
   */
  readonly feedsFailing: (isIdle: boolean) => FeedTrouble | null;
  /** Too many committed items wait for an item pipeline: nothing is leased until there are fewer. */
  readonly isOutboxFull: () => boolean;
  /** The other nodes of the same command, if any. */
  readonly siblings?: Siblings | null;
  readonly onProgress?: (progress: NodeProgress) => void;
  /** Called with the items of a page after its commit: JSON texts, as feeds get them, and the response, if there was one. */
  readonly onItems?: ItemListener;
}

export type ItemListener = (texts: readonly string[], response: Response | null) => void;

/** Nodes that were started together. A node that joins after the others have cleared the crawl would begin it again. */
export interface Siblings {
  /** This node has joined. */
  joined(): void;
  /** Whether some have yet to join. */
  missing(): boolean;
  /** What this node hands over each second. */
  hear(handed: Handed): void;
  /** The port at which the metrics of all of them are served; null for none. */
  readonly metricsPort: number | null;
}

export interface NodeResult {
  /** Scrapy's closing reason: `finished`, `shutdown`, `stopped`, `closespider_pagecount`, `frontier_gone`, `frontier_unavailable`, `disk_full`, `feed_unwritable`, `crawl_stalled`. */
  readonly reason: string;
  /** 0 done or drained, 1 run-time failure, 4 the store was away for too long; a forced end is 130 or 143, which the CLI knows. */
  readonly exitCode: 0 | 1 | 4;
  /** It has waited for the store or a feed as long as WAIT_TIMEOUT says: nobody is to wait for them again. */
  readonly hasWaited: boolean;
  /** A sentence for the user when the reason alone is not clear; else null. */
  readonly message: string | null;
  /** Pages, failed requests and items of this node alone. */
  readonly pages: number;
  readonly failed: number;
  readonly items: number;
  readonly elapsedMs: number;
  /** Pages without a result, by kind, with an example of each; of this node alone. */
  readonly deadEnds: readonly DeadEnd[];
  /** Names of DOWNLOAD_SLOTS that no request of this node had. */
  readonly unusedSlots: readonly string[];
  /** Of the domains of this node, at most 1,000; null where it had not several. */
  readonly slowestDomain: SlowestDomain | null;
  /** The stats of the user's own code when this node had ended; empty where it has none. */
  readonly customStats: Snapshot['custom'];
  /** The totals of the whole crawl when this node left; null when they could not be read. */
  readonly crawl: CrawlTotals | null;
  /** The totals of the run when this node left; null when it took part in none, or they could not be read. */
  readonly run: RunTotals | null;
}

/** A domain, and the average time until the first byte of its answers. */
export interface SlowestDomain {
  readonly domain: string;
  readonly latencyMs: number;
}

/** What all nodes have counted since the crawl (its job) began. */
export interface CrawlTotals {
  /** Requests that are done or failed. */
  readonly pages: number;
  readonly failed: number;
  readonly items: number;
}

/** What all nodes of a run have counted since it began. */
export interface RunTotals {
  readonly id: string;
  readonly items: number;
  readonly failed: number;
  /** Pages that answered with an error, and whether any page was processed (`RunSnapshot`). */
  readonly errorPages: number;
  readonly hasGoodPage: boolean;
  /** Links that were dropped because of SCHEDULER_QUEUE_LIMIT or SCHEDULER_MEMORY_LIMIT. */
  readonly dropped: number;
  /** Pages that ended in the run, by their final status, and requests that failed, by reason (`endingCounters`). */
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  /** Redirect hops, each of which is a page too. */
  readonly redirects: number;
  /** Requests in progress as this node left. */
  readonly leased: number;
  /** Whether the run ended as this node left. Otherwise other nodes go on with it, and the totals are not final. */
  readonly isOver: boolean;
}
