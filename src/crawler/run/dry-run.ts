/**
 * `crawl --dry-run`: everything that a node does before it joins, and nothing that changes the store or a file. It loads
 * settings, spider, pipelines, middleware and extensions, reads the state of the crawl, and reads the first start requests.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { CrawlnodeError, messageOf } from '../../errors.js';
import type { Frontier, FrontierRequest } from '../../frontier/frontier.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import { otherShape } from '../../frontier/shared-settings/shape-differences.js';
import { decodeRecord } from '../../http/message/record/request-codec.js';
import { silentLogger, spiderLogger } from '../../log.js';
import { loadExtensions } from '../../node/extensions/load-extensions.js';
import { linkRules } from '../../node/links/filter-links.js';
import { loadMiddleware } from '../../node/middleware/load-middleware.js';
import { startRequests } from '../../node/seeds/seed-requests.js';
import { hasGenerator, startIterator, startRequestOf } from '../../node/seeds/start-generator.js';
import { loadPipelines } from '../../pipelines/item-pipeline.js';
import { loadModule } from '../../spider/loading/load-module.js';
import type { Spider } from '../../spider/spider.js';
import { uncountedStats } from '../../stats/stats.js';
import { inOrder } from '../../user-code/project-modules.js';
import { whereThrown } from '../../user-code/where-thrown.js';
import type { FeedTarget } from '../feeds/feed-targets.js';
import type { LoadedSpider } from '../project/load-spider.js';
import { linkOptionsOf } from '../project/settings-to-options.js';
import { storeInWords } from '../project/store-address.js';
import { statsOf } from '../stats/crawl-stats.js';
import { nodeIdOf, pipelinesOf } from './run-node.js';

/** Start requests that are read of a `start()`, which may never end. */
export const READ_OF_START = 10;

export interface DryRunPlan {
  readonly spider: LoadedSpider;
  readonly frontier: Frontier;
  readonly open: OpenOptions;
  readonly targets: readonly FeedTarget[];
}

/** What a crawl with these settings would be. */
export type DryRun = Awaited<ReturnType<typeof dryRun>>;

/**
 * Check a crawl without beginning it.
 * @throws what `crawl` would: SettingsError, SpiderLoadError, UsageError; RefusedError for a crawl of another shape;
 *   CrawlnodeError `feed_unwritable`, `start_failed`
 */
export async function dryRun({ spider: loadedSpider, frontier, open, targets }: DryRunPlan) {
  const { loaded, found } = loadedSpider;
  const { settings, projectDir } = loaded;
  const spider = await loadedSpider.create();
  const context = {
    nodeId: nodeIdOf(settings.NODE_ID),
    spider: spider.name,
    job: settings.JOB,
    ...{ settings, stats: uncountedStats, log: spiderLogger(silentLogger) },
  };
  const pipelines = pipelinesOf(
    loaded,
    targets.map(({ id }) => id),
  );
  await loadPipelines({ pipelines, projectDir, loadModule, context });
  await loadMiddleware({ projectDir, loadModule, context });
  await loadExtensions({ projectDir, loadModule, context });

  const snapshot = await frontier.snapshot();
  const isFlushed = settings.SCHEDULER_FLUSH_ON_START && snapshot.nodes.length === 0;
  const refusal = snapshot.shape === null || isFlushed ? null : otherShape(snapshot.shape, open.shape);
  if (refusal !== null) throw refusal;
  for (const { path: file } of targets) refuseUnwritable(file);

  return {
    ...{ spider: spider.name, file: found.file, job: settings.JOB, settingsFile: loaded.file },
    notices: loaded.notices,
    /** A folder or an address; it may contain a password. */
    store: storeInWords(settings),
    stats: statsOf({ spider: spider.name, job: settings.JOB, frontier }, snapshot),
    /** All of `startUrls`, or the first of `start()`. */
    startRequests: (await firstRequests(spider, loadedSpider)).map(({ record }) => {
      const { url, method, callback, priority } = decodeRecord(record);
      return { url, method, callback: callback ?? 'parse', priority };
    }),
    /** Whether the spider has a `start()`, of which no more were read. */
    isGenerator: hasGenerator(spider),
    feeds: targets.map(({ path: file, format, overwrite }) => ({ file, format, overwrite })),
    pipelines: namesInOrder(pipelines),
    middleware: [
      ...namesInOrder(settings.DOWNLOADER_MIDDLEWARES),
      ...namesInOrder(settings.SPIDER_MIDDLEWARES),
    ],
    extensions: namesInOrder(settings.EXTENSIONS),
  };
}

async function firstRequests(spider: Spider, { loaded }: LoadedSpider): Promise<FrontierRequest[]> {
  const { settings } = loaded;
  const rules = linkRules(spider, linkOptionsOf(settings), settings.DOMAIN_KEY, settings.JOB);
  if (!hasGenerator(spider)) return startRequests(spider, rules, Date.now());
  try {
    const iterator = await startIterator(spider);
    const requests: FrontierRequest[] = [];
    while (requests.length < READ_OF_START) {
      const { value, done } = await iterator.next();
      if (done === true) return requests;
      requests.push(startRequestOf(value, requests.length, spider, rules));
    }
    await iterator.return?.();
    return requests;
  } catch (cause) {
    const where = whereThrown(cause);
    throw new CrawlnodeError(
      'start_failed',
      `start() of the spider "${spider.name}" failed: ${messageOf(cause)}${where === null ? '' : ` (${where})`}`,
      { cause },
    );
  }
}

/** Whether a file can be written is asked of the file, or of the nearest folder that exists. */
function refuseUnwritable(file: string): void {
  let place = file;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  try {
    accessSync(place, constants.W_OK);
  } catch (cause) {
    throw new CrawlnodeError('feed_unwritable', `${file} cannot be written: ${messageOf(cause)}`, { cause });
  }
  const isFolder = statSync(place).isDirectory();
  if (isFolder !== (place === file)) return;
  const why = isFolder ? 'it is a folder' : `${place} is no folder`;
  throw new CrawlnodeError('feed_unwritable', `${file} cannot be written: ${why}`);
}

const namesInOrder = (setting: Readonly<Record<string, number | null>>) =>
  inOrder(setting).map(([name]) => name);
