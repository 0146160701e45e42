/** One node of a crawl in this process: everything the engine needs, made, run and closed. */
import os from 'node:os';
import v8 from 'node:v8';
import { runEngine } from '../engine/engine.js';
import type { EngineResult } from '../engine/engine-options.js';
import type { Frontier } from '../frontier/frontier.js';
import type { OpenOptions } from '../frontier/open.js';
import type { Logger } from '../log.js';
import { loadPipelines } from '../pipelines/item-pipeline.js';
import { loadModule } from '../spider/load-module.js';
import { downloaderOptionsOf, engineOptionsOf } from './engine-settings.js';
import type { LoadedSpider } from './open-project.js';
import type { Signals } from './signals.js';

export interface NodePlan {
  readonly spider: LoadedSpider;
  readonly nodeId: string;
  readonly open: OpenOptions;
  readonly frontier: Frontier;
  readonly exitWhenDone: boolean;
  /** Ids of the feeds whose outbox gets this node's items. */
  readonly feeds: readonly string[];
  readonly feedsFailing: () => string | null;
  readonly signals: Signals;
  readonly log: Logger;
  readonly onTrouble: (trouble: string | null) => void;
}

/** The label of this node: NODE_ID, else host and process. */
export function nodeIdOf(configured: string | null): string {
  return configured ?? `${os.hostname()}-${process.pid}`;
}

/**
 * How far the old generation may grow between two full collections, in % of what lives. By V8's own measure a node whose
 * 30 MB live takes 205 MB of memory; with this 175 MB, and 4 % more CPU in the first second (Node 20). With 30 % it takes
 * 160 MB, and 20 % more CPU while it warms up. V8 does not read its flags for the young generation once a process runs.
 */
const HEAP_GROWTH = '--heap-growing-percent=100';

export async function crawlNode(plan: NodePlan): Promise<EngineResult> {
  v8.setFlagsFromString(HEAP_GROWTH);
  const { spider: loadedSpider, nodeId, open, frontier, signals, log } = plan;
  const { settings, projectDir } = loadedSpider.loaded;
  const spider = await loadedSpider.create(log);
  const job = settings.JOB;
  const pipelines = await loadPipelines({
    pipelines: settings.ITEM_PIPELINES,
    projectDir,
    loadModule,
    context: { nodeId, spider: spider.name, job, log },
    addNodeId: settings.ITEM_NODE_ID,
  });
  const { createDownloader } = await import('../downloader/downloader.js');
  const downloader = createDownloader({ ...downloaderOptionsOf(settings), log });
  try {
    return await runEngine({
      ...{ frontier, open, job, spider, downloader, pipelines, log },
      node: { id: nodeId, host: os.hostname(), pid: process.pid },
      options: engineOptionsOf(settings, plan),
      drain: signals.drain,
      force: signals.force,
      feedsFailing: plan.feedsFailing,
      onProgress: ({ trouble }) => plan.onTrouble(trouble),
    });
  } finally {
    await downloader.close();
  }
}
