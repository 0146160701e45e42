/** Run one node of a crawl in this process: create what it needs, run it, and close everything. */
import os from 'node:os';
import type { FeedTrouble } from '../../feed-outbox.js';
import { loadEngine } from '../../frontier/choose-engine.js';
import { type Frontier, MAX_SETTLE_BYTES } from '../../frontier/frontier.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import { type Logger, spiderLogger } from '../../log.js';
import { loadExtensions } from '../../node/extensions/load-extensions.js';
import { loadMiddleware } from '../../node/middleware/load-middleware.js';
import { crawlAsNode } from '../../node/node.js';
import type { ItemListener, NodeResult, Siblings } from '../../node/node-options.js';
import { Measures } from '../../node/telemetry/measures.js';
import { type ItemPipelines, loadPipelines } from '../../pipelines/item-pipeline.js';
import type { Settings } from '../../settings/schema.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import { loadModule } from '../../spider/loading/load-module.js';
import { Spider } from '../../spider/spider.js';
import { mentionsStats, NodeStats } from '../../stats/stats.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';
import { committedPipelines } from '../feeds/committed-pipelines.js';
import { crawlName } from '../project/crawls-in-store.js';
import { cachedIfWanted } from '../project/http-cache.js';
import type { LoadedSpider } from '../project/load-spider.js';
import { downloaderOptionsOf, metricsOptionsOf, nodeOptionsOf } from '../project/settings-to-options.js';
import { storeOf } from '../project/store-address.js';
import { recordedRequest } from '../requests/recorded-request.js';

/** Options of one node. */
export interface NodePlan {
  /** The arguments that identify the crawl in commands that messages suggest: spider, job and options. */
  readonly crawlArguments: string;
  readonly spider: LoadedSpider;
  readonly nodeId: string;
  readonly open: OpenOptions;
  readonly frontier: Frontier;
  readonly exitWhenDone: boolean;
  /** Whether somebody waits for the end of the crawl, as a program does; default `exitWhenDone`. */
  readonly isAwaited?: boolean;
  /** The totals of the run are checked, so a node that leaves at its end waits until they are final. */
  readonly awaitsFinalTotals?: boolean;
  /** Whether every line of stderr is JSON. */
  readonly speaksJson: boolean;
  /** `NodeOptions.endsStuckProcess`; default true. */
  readonly endsStuckProcess?: boolean;
  /** Ids of the feeds whose outbox gets this node's items. */
  readonly feeds: readonly string[];
  readonly feedsFailing: () => FeedTrouble | null;
  /** The other nodes of the same command; null without any. */
  readonly siblings: Siblings | null;
  /** Aborted to finish the leased requests and leave. */
  readonly drain: AbortSignal;
  /** Aborted to leave at once. */
  readonly force: AbortSignal;
  readonly log: Logger;
  readonly onTrouble: (trouble: string | null) => void;
  /** `NodeDeps.onItems`. */
  readonly onItems?: ItemListener;
}

/** The label of this node: NODE_ID, else host and process id. */
export function nodeIdOf(configured: string | null): string {
  return configured ?? `${os.hostname()}-${process.pid}`;
}

/**
 * Load the code of a node before the user's modules. Modules that are loaded later pass through the module hooks, which is
 * slower.
 */
export async function loadNode(settings: Settings): Promise<void> {
  const engine = async () => loadEngine(storeOf(settings));
  // Errors are ignored here and reported on use, because the spider's settings may name another store.
  await Promise.allSettled([engine(), import('../../downloader/downloader.js')]);
}

/** By default RedisPipeline is off when items go to a file, because nothing would then empty the items list. */
export function pipelinesOf(
  { settings, sources }: Pick<LoadedSettings, 'settings' | 'sources'>,
  feeds: readonly string[],
): Settings['ITEM_PIPELINES'] {
  return sources.ITEM_PIPELINES === 'default' && feeds.length > 0 ? {} : settings.ITEM_PIPELINES;
}

/** A warning where no file, no items list and no `committed` of a pipeline takes the items; null otherwise. */
export function unkeptItems(
  { count, toList, withCommitted }: ItemPipelines,
  feeds: readonly string[],
): string | null {
  if (feeds.length > 0 || toList || withCommitted.length > 0) return null;
  const what =
    count === 0
      ? 'items are kept nowhere'
      : 'items are lost unless processItem of a pipeline stores them itself';
  return `${what}: there is no file for them (-o, FEEDS), no RedisPipeline and no pipeline with committed(). Give -o FILE, or add "RedisPipeline: 300" to ITEM_PIPELINES`;
}

/** What the modules of a project get. One that asks for the stats has its pages tracked from then on. */
function moduleContext(crawl: Omit<CrawlContext, 'stats'>, stats: NodeStats): CrawlContext {
  return {
    ...crawl,
    get stats() {
      return stats.enable();
    },
  };
}

/** Run one node until it leaves the crawl. @throws errors of the node, the pipelines and the spider's constructor. */
export async function runNode(plan: NodePlan): Promise<NodeResult> {
  const { spider: loadedSpider, nodeId, open, frontier, exitWhenDone, drain, force, log } = plan;
  const { settings, projectDir } = loadedSpider.loaded;
  const stats = new NodeStats();
  const spider = await loadedSpider.create(log, stats);
  if (mentionsStats(spider, Spider.prototype)) stats.enable();
  const job = settings.JOB;
  const moduleLog = spiderLogger(log);
  const context = moduleContext({ nodeId, spider: spider.name, job, settings, log: moduleLog }, stats);
  const from = { projectDir, loadModule, context };
  const pipelines = await loadPipelines({
    pipelines: pipelinesOf(loadedSpider.loaded, plan.feeds),
    ...from,
    addNodeId: settings.ITEM_NODE_ID,
    keepsErrors: settings.CALLBACK_ERROR === 'keep',
    maxPageBytes: MAX_SETTLE_BYTES,
    callbackTimeoutMs: settings.CALLBACK_TIMEOUT * 1000,
  });
  const unkept = plan.onItems === undefined ? unkeptItems(pipelines, plan.feeds) : null;
  if (unkept !== null) log.warn({}, unkept);
  const middleware = await loadMiddleware(from);
  const extensions = await loadExtensions(from);
  const committed = committedPipelines({
    ...{ frontier, pipelines, force, log },
    staleMs: settings.NODE_TIMEOUT * 1000,
    maxWaiting: settings.FEED_OUTBOX_LIMIT,
    graceMs: settings.SHUTDOWN_TIMEOUT * 1000,
  });
  const feeds = [...plan.feeds, ...committed.outboxes];
  const { createDownloader } = await import('../../downloader/downloader.js');
  const downloader = await cachedIfWanted(
    createDownloader({ ...downloaderOptionsOf(settings), log }),
    settings,
    spider,
    log,
  );
  const metrics = metricsOptionsOf(settings, crawlName({ spider: spider.name, job }));
  const measures = metrics === null ? null : new Measures();
  try {
    const result = await crawlAsNode({
      frontier: measures?.of(frontier) ?? frontier,
      ...{ open, measures, job, spider, stats, downloader, middleware, extensions, drain, force, log },
      pipelines: committed.pipelines,
      crawlArguments: plan.crawlArguments,
      readRecord: (_, record) => recordedRequest(record, settings),
      node: { id: nodeId, host: os.hostname(), pid: process.pid },
      options: nodeOptionsOf(settings, {
        ...{ feeds, exitWhenDone, speaksJson: plan.speaksJson, isAwaited: plan.isAwaited ?? exitWhenDone },
        awaitsFinalTotals: plan.awaitsFinalTotals === true,
        endsStuckProcess: plan.endsStuckProcess !== false,
        // Those of several workers are served by their parent.
        metrics: plan.siblings === null ? metrics : null,
      }),
      feedsFailing: (isIdle) => plan.feedsFailing() ?? committed.failing(isIdle),
      isOutboxFull: committed.isFull,
      siblings: plan.siblings,
      onProgress: ({ trouble }) => plan.onTrouble(trouble),
      ...(plan.onItems && { onItems: plan.onItems }),
    });
    const unaccepted = committed.unaccepted();
    if (unaccepted === null || result.exitCode !== 0) return result;
    const message = `${unaccepted}; they wait in the frontier, and the next node of this crawl passes them on`;
    return { ...result, exitCode: 1, message };
  } finally {
    await downloader.close();
  }
}
