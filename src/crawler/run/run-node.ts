/** One node of a crawl in this process: everything the engine needs, made, run and closed. */
import os from 'node:os';
import { runEngine } from '../../engine/engine.js';
import type { EngineResult, Siblings } from '../../engine/engine-options.js';
import type { Frontier } from '../../frontier/frontier.js';
import { loadEngine } from '../../frontier/open.js';
import type { OpenOptions } from '../../frontier/store.js';
import type { Logger } from '../../log.js';
import { loadPipelines } from '../../pipelines/item-pipeline.js';
import type { LoadedSettings } from '../../settings/load.js';
import type { Settings } from '../../settings/schema.js';
import { loadModule } from '../../spider/loading/load-module.js';
import { downloaderOptionsOf, engineOptionsOf } from '../project/engine-settings.js';
import type { LoadedSpider } from '../project/load-spider.js';
import { storeOf } from '../project/store-address.js';

/** What one node is to do, and with what. */
export interface NodePlan {
  /** How messages name the crawl in a command to be typed: its spider, its job, and the options that find it. */
  readonly crawlArguments: string;
  readonly spider: LoadedSpider;
  readonly nodeId: string;
  readonly open: OpenOptions;
  readonly frontier: Frontier;
  readonly exitWhenDone: boolean;
  /** Somebody judges the run by its totals, so a node that leaves at its end waits until they are final. */
  readonly awaitsFinalTotals?: boolean;
  /** What is said beside the log is JSON too. */
  readonly speaksJson: boolean;
  /** Ids of the feeds whose outbox gets this node's items. */
  readonly feeds: readonly string[];
  readonly feedsFailing: () => string | null;
  /** The other nodes of the same command; null without any. */
  readonly siblings: Siblings | null;
  /** Aborted to finish what is in work and leave. */
  readonly drain: AbortSignal;
  /** Aborted to leave at once. */
  readonly force: AbortSignal;
  readonly log: Logger;
  readonly onTrouble: (trouble: string | null) => void;
}

/** The label of this node: NODE_ID, else host and process. */
export function nodeIdOf(configured: string | null): string {
  return configured ?? `${os.hostname()}-${process.pid}`;
}

/**
 * Load the code a node takes, for a time before the user's modules: whatever is loaded after them passes through their
 * hooks, which takes twice as long.
 */
export async function loadNode(settings: Settings): Promise<void> {
  const engine = async () => loadEngine(storeOf(settings));
  // What fails is said where it is used: the spider's own settings may name another store.
  await Promise.allSettled([engine(), import('../../downloader/downloader.js')]);
}

/** The default, RedisPipeline, is for items that go to no file: with one the items list would only grow. */
export function pipelinesOf(
  { settings, sources }: Pick<LoadedSettings, 'settings' | 'sources'>,
  feeds: readonly string[],
): Settings['ITEM_PIPELINES'] {
  return sources.ITEM_PIPELINES === 'default' && feeds.length > 0 ? {} : settings.ITEM_PIPELINES;
}

/** Run one node until it leaves the crawl. @throws what the engine, the pipelines or the spider's constructor throw */
export async function runNode(plan: NodePlan): Promise<EngineResult> {
  const { spider: loadedSpider, nodeId, open, frontier, drain, force, log } = plan;
  const { settings, projectDir } = loadedSpider.loaded;
  const spider = await loadedSpider.create(log);
  const job = settings.JOB;
  const pipelines = await loadPipelines({
    pipelines: pipelinesOf(loadedSpider.loaded, plan.feeds),
    projectDir,
    loadModule,
    context: { nodeId, spider: spider.name, job, log },
    addNodeId: settings.ITEM_NODE_ID,
  });
  const { createDownloader } = await import('../../downloader/downloader.js');
  const downloader = createDownloader({ ...downloaderOptionsOf(settings), log });
  try {
    return await runEngine({
      ...{ frontier, open, job, spider, downloader, pipelines, drain, force, log },
      crawlArguments: plan.crawlArguments,
      node: { id: nodeId, host: os.hostname(), pid: process.pid },
      options: engineOptionsOf(settings, { ...plan, awaitsFinalTotals: plan.awaitsFinalTotals === true }),
      feedsFailing: plan.feedsFailing,
      siblings: plan.siblings,
      onProgress: ({ trouble }) => plan.onTrouble(trouble),
    });
  } finally {
    await downloader.close();
  }
}
