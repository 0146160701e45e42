/** Nodes of a crawl within the test's own process: the real engine, downloader and frontier, options filled in. */
import { hostname } from 'node:os';
import type { DownloaderOptions } from '../../src/downloader/downloader.js';
import { createDownloader } from '../../src/downloader/downloader.js';
import { noBudgets } from '../../src/frontier/budgets.js';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import type { Frontier } from '../../src/frontier/frontier.js';
import type { OpenOptions } from '../../src/frontier/open-options.js';
import { fingerprint } from '../../src/http/message/fingerprint.js';
import { type Logger, silentLogger, spiderLogger } from '../../src/log.js';
import type { Extension } from '../../src/node/extensions/extension.js';
import type { Extensions } from '../../src/node/extensions/load-extensions.js';
import type { Middleware } from '../../src/node/middleware/load-middleware.js';
import {
  crawlAsNode,
  type NodeDeps,
  type NodeOptions,
  type NodeProgress,
  type NodeResult,
} from '../../src/node/node.js';
import type { Measures } from '../../src/node/telemetry/measures.js';
import { loadPipelines } from '../../src/pipelines/item-pipeline.js';
import type { Settings } from '../../src/settings/schema.js';
import { loadModule } from '../../src/spider/loading/load-module.js';
import { createSpider, type SpiderClass } from '../../src/spider/spider.js';
import { NodeStats } from '../../src/stats/stats.js';
import { downloaderOptions } from './downloader/default-options.js';
import { defaultShape, openOptions } from './open-options.js';
import { own } from './resources.js';

/** Options as the default settings give them, with waits short enough for a test. */
export function nodeOptions(some: Partial<NodeOptions> = {}): NodeOptions {
  return {
    concurrency: 16,
    seedBatch: null,
    exitWhenDone: true,
    startTimeoutMs: 200,
    graceMs: 10_000,
    waitTimeoutMs: 60_000,
    reports: { historyMinutes: 60, scaleMax: 100 },
    metrics: null,
    heartbeatMs: 500,
    speaksJson: false,
    endsStuckProcess: true,
    mainLoopTimeoutMs: 60_000,
    allowedStatuses: [],
    allowAllStatuses: false,
    autoThrottleDebug: false,
    maxItems: 10_000,
    maxNodes: 750_000,
    callbackTimeoutMs: 60_000,
    keepsErrors: false,
    conditionalRequests: true,
    redirectMaxTimes: 20,
    metaRefresh: { maxDelayS: 100, ignoreTags: ['noscript'] },
    maxHops: 20,
    redirectPriorityAdjust: 2,
    retry: {
      enabled: true,
      times: 2,
      httpCodes: [500, 502, 503, 504, 522, 524, 408, 429],
      priorityAdjust: -1,
      baseMs: 20,
      capMs: 100,
      retryAfterCapMs: 60_000,
    },
    robots: null,
    links: {
      depthLimit: 0,
      depthPriority: 0,
      urlLengthLimit: 2_083,
      fingerprint: (request) => fingerprint(request),
      proxyFromSeeds: false,
      allowPrivateAddresses: true,
    },
    cookies: { enabled: true, debug: false, maxHeaderBytes: 8_192, maxJars: 100 },
    shape: defaultShape,
    tunables: {
      delayMs: 0,
      randomizeDelay: false,
      concurrencyPerDomain: 16,
      nodeTimeoutMs: 5_000,
      failedLimit: 1_000,
      queueLimit: 0,
      memoryLimit: 0,
      pagesPerDomain: 0,
      slots: null,
      autothrottle: null,
    },
    budgets: noBudgets,
    flushOnStart: false,
    maxIdleMs: 0,
    awaitsFinalTotals: false,
    feeds: [],
    ...some,
  };
}

let stores = 0;

/** A frontier of one's own on the Redis that all test files share, which nobody may configure or flush. */
export async function freshStore(): Promise<OpenOptions> {
  stores += 1;
  return openOptions(process.env.TEST_REDIS_URL!, `crawl${process.pid}x${stores}`);
}

/** What a test chooses of a node. */
export interface NodeChoice {
  readonly id?: string;
  readonly options?: Partial<NodeOptions>;
  readonly downloader?: Partial<DownloaderOptions>;
  readonly log?: Logger;
  readonly measures?: Measures;
  readonly middleware?: Middleware;
  readonly extensions?: Readonly<Record<string, Extension>>;
  readonly onProgress?: (progress: NodeProgress) => void;
  readonly feedsFailing?: NodeDeps['feedsFailing'];
  readonly isOutboxFull?: () => boolean;
}

/** A node that is running. */
export interface RunningNode {
  /** The node's own client of the frontier; closed when the node has ended. */
  readonly frontier: Frontier;
  readonly result: Promise<NodeResult>;
  /** As a first SIGTERM does. */
  drain(): void;
  /** As a second one does. */
  force(): void;
}

/** Start a node; it ends by itself, by `drain()`, else after the test file. */
export async function startNode(
  open: OpenOptions,
  Spider: SpiderClass,
  choice: NodeChoice = {},
): Promise<RunningNode> {
  const log = choice.log ?? silentLogger;
  const stats = new NodeStats().enable();
  const spider = createSpider(Spider, { log, stats });
  const { allowPrivateAddresses = true } = choice.downloader ?? {};
  const { links, ...chosen } = nodeOptions(choice.options);
  const options = { ...chosen, links: { ...links, allowPrivateAddresses } };
  const frontier = await openFrontier(open);
  const downloader = createDownloader({
    ...downloaderOptions,
    maxBodyBytes: 10_000_000,
    concurrency: options.concurrency,
    ...choice.downloader,
  });
  const id = choice.id ?? 'node';
  const pipelines = await loadPipelines({
    pipelines: { RedisPipeline: 300 },
    projectDir: process.cwd(),
    loadModule,
    context: {
      nodeId: id,
      spider: spider.name,
      job: null,
      settings: {} as Settings,
      stats,
      log: spiderLogger(log),
    },
  });
  const drain = new AbortController();
  const force = new AbortController();
  const deps: NodeDeps = {
    frontier: choice.measures?.of(frontier) ?? frontier,
    measures: choice.measures ?? null,
    open,
    node: { id, host: hostname(), pid: process.pid },
    job: null,
    crawlArguments: spider.name,
    readRecord: () => null,
    spider,
    stats,
    downloader,
    pipelines,
    middleware: choice.middleware ?? null,
    extensions: extensionsOf(choice.extensions),
    options,
    log,
    drain: drain.signal,
    force: force.signal,
    feedsFailing: choice.feedsFailing ?? (() => null),
    isOutboxFull: choice.isOutboxFull ?? (() => false),
    ...(choice.onProgress && { onProgress: choice.onProgress }),
  };
  const result = crawlAsNode(deps).finally(async () => {
    await downloader.close();
    await frontier.close();
  });
  own({
    name: `the node ${id}`,
    close: async () => {
      force.abort();
      drain.abort();
      await result.catch(() => {});
    },
  });
  return { frontier, result, drain: () => drain.abort(), force: () => force.abort() };
}

function extensionsOf(given: NodeChoice['extensions']): Extensions | null {
  if (given === undefined) return null;
  const all = Object.entries(given).map(([name, methods], number) => ({ name, number, methods }));
  return { all, opening: () => null, open: async () => {}, close: async () => {} };
}

/** Run a node to its end. */
export async function crawl(
  open: OpenOptions,
  Spider: SpiderClass,
  choice: NodeChoice = {},
): Promise<NodeResult> {
  return (await startNode(open, Spider, choice)).result;
}
