/**
 * `crawl --dry-run`: everything that a node does before it joins, and nothing that changes the store or a file. It loads
 * settings, spider, pipelines, middleware and extensions, reads the state of the crawl, and reads the first start requests.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { CrawlnodeError, FrontierUnavailableError, messageOf } from '../../errors.js';
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
import { FeedDisk } from '../../pipelines/feeds/feed-disk.js';
import { batchPath, formatFor } from '../../pipelines/feeds/formats/feed-format.js';
import { hasContentToKeep } from '../../pipelines/feeds/overwrite-or-append.js';
import type { FileStage } from '../../pipelines/files/file-stage.js';
import { unwritable } from '../../pipelines/files/store/file-store.js';
import { loadPipelines } from '../../pipelines/item-pipeline.js';
import { loadModule } from '../../spider/loading/load-module.js';
import type { Spider } from '../../spider/spider.js';
import { uncountedStats } from '../../stats/stats.js';
import { inOrder } from '../../user-code/project-modules.js';
import { placeOf } from '../../user-code/where-thrown.js';
import type { FeedTarget } from '../feeds/feed-targets.js';
import { loadItemFilter } from '../feeds/item-filter.js';
import type { LoadedSpider } from '../project/load-spider.js';
import { linkOptionsOf } from '../project/settings-to-options.js';
import { storeInWords } from '../project/store-address.js';
import { statsOf } from '../stats/crawl-stats.js';
import { nodeIdOf, pipelinesOf, unkeptItems } from './run-node.js';

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
 *   CrawlnodeError `feed_unwritable`, `pipeline_error`, `start_failed`
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
  const ids = targets.map(({ id }) => id);
  const pipelines = pipelinesOf(loaded, ids);
  const from = { projectDir, loadModule, context };
  const loadedPipelines = await loadPipelines({ ...from, pipelines });
  const unkept = unkeptItems(loadedPipelines, ids);
  await loadMiddleware(from);
  await loadExtensions(from);

  const snapshot = await frontier.snapshot();
  const isFlushed = settings.SCHEDULER_FLUSH_ON_START && snapshot.nodes.length === 0;
  const refusal = snapshot.shape === null || isFlushed ? null : otherShape(snapshot.shape, open.shape);
  if (refusal !== null) throw refusal;
  if (open.store.engine === 'embedded') refuseUnwritableStore(open.store.dir);
  const written = snapshot.outbox.map(({ feed }) => feed);
  for (const target of targets) await refuseUnwritableFeed(target, written.includes(target.id));
  for (const name of namesInOrder(pipelines)) {
    const files = loadedPipelines.fileStage(name);
    if (files !== null) refuseUnwritableFiles(name, files.options.store);
  }

  return {
    ...{ spider: spider.name, file: found.file, job: settings.JOB, settingsFile: loaded.file },
    notices: unkept === null ? loaded.notices : [...loaded.notices, unkept],
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
    throw new CrawlnodeError(
      'start_failed',
      `start() of the spider "${spider.name}" failed: ${messageOf(cause)}${placeOf(cause)}`,
      { cause },
    );
  }
}

/** @param isOurs whether the job has written to the file, and goes on there */
async function refuseUnwritableFeed(
  { path: template, format, overwrite, isStdout, itemFilter, ...layout }: FeedTarget,
  isOurs: boolean,
): Promise<void> {
  await loadItemFilter(itemFilter);
  if (isStdout === true) return;
  const file = batchPath(template, 1);
  if (existsSync(file)) {
    // Opening an existing file does not change it.
    const disk = await FeedDisk.open(file);
    try {
      if (!overwrite && !isOurs) await hasContentToKeep(disk, formatFor(format, layout));
    } finally {
      await disk.close();
    }
    return;
  }
  try {
    refuseUncreatable(path.dirname(file));
  } catch (cause) {
    throw new CrawlnodeError('feed_unwritable', `${file} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

/** A bucket cannot be checked without writing to it. */
function refuseUnwritableFiles(name: string, store: FileStage['options']['store']): void {
  if (store.place.startsWith('s3://')) return;
  try {
    refuseUncreatable(store.place);
  } catch (cause) {
    throw new CrawlnodeError(
      'pipeline_error',
      `open() of ${name} failed: ${messageOf(unwritable(store, cause))}`,
      { cause },
    );
  }
}

function refuseUnwritableStore(dir: string): void {
  try {
    refuseUncreatable(dir);
  } catch (cause) {
    const message = `the folder ${dir} of the embedded frontier cannot be made or entered: ${messageOf(cause)}`;
    throw new FrontierUnavailableError(`${message}; see to it, or set JOBDIR to another folder`, { cause });
  }
}

/** Types of statfs(2) in which nobody can make a file, whatever its permissions say: proc and sysfs. */
const kernelFileSystems = [0x9fa0, 0x62656572];

/** Whether a folder can be made or written to, as far as the nearest folder that exists says. @throws Error */
function refuseUncreatable(folder: string): void {
  let place = folder;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  accessSync(place, constants.W_OK);
  if (!statSync(place).isDirectory()) throw new Error(`${place} is no folder`);
  if (kernelFileSystems.includes(statfsSync(place).type)) throw new Error(`no file can be made in ${place}`);
}

const namesInOrder = (setting: Readonly<Record<string, number | null>>) =>
  inOrder(setting).map(([name]) => name);
