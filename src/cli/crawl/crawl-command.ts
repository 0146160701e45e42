/**
 * What `crawl` and `runspider` do: run one node in this process, or several as child processes. Both follow the same steps:
 * load settings and spider, open frontier and feeds, run the nodes, finish the feeds, print the summary.
 */
import os from 'node:os';
import type { Writable } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import { feedTargets } from '../../crawler/feeds/feed-targets.js';
import type { OpenFeeds } from '../../crawler/feeds/open-feeds.js';
import { userFeedRecords } from '../../crawler/feeds/user-feed-records.js';
import { withFeeds } from '../../crawler/feeds/with-feeds.js';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type LoadedSpider, logSettingNotices, refuseMissing } from '../../crawler/project/load-spider.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { metricsOptionsOf } from '../../crawler/project/settings-to-options.js';
import { combine, difference } from '../../crawler/run/crawl-totals.js';
import { runCrawl } from '../../crawler/run/run-crawl.js';
import { needsTotals, type RunGates, type StatusLimit } from '../../crawler/run/run-gates.js';
import { loadNode } from '../../crawler/run/run-node.js';
import type { Logger } from '../../log.js';
import { totalsOf } from '../../node/shutdown/final-totals.js';
import { type Context, stderrIsJson } from '../context.js';
import { exitCodeOf } from '../messages/error-report.js';
import { addPair, atLeastOne, collect, type Pairs } from '../options/option-parsers.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import { ignoreStdoutErrors, itemOutput } from '../output-streams.js';
import { loadSpider, useCrawlInMessages } from '../project/open-project.js';
import { type Crawl, type CrawlSession, withCrawlSession } from './crawl-session.js';
import { finishCrawl } from './finish-crawl.js';
import { followParent, sendToParent, type ToWorker, type WorkerRole, workerRole } from './worker-channel.js';
import type { WorkerMetrics } from './worker-metrics.js';

/** How often the parent tells its nodes whether the feeds can be written. */
const FEED_STATUS_INTERVAL_MS = 1_000;

/** Declare the options that `crawl` and `runspider` share. */
export function crawlOptions(command: Command): Command {
  return command
    .option('-a, --arg <name=value>', 'an argument for the spider; may repeat', addPair)
    .option(
      '-o, --output <file>',
      'append items to a .jsonl, .json, .csv or .xml file, to FILE:FORMAT, or to stdout (- or -:FORMAT); may repeat',
      collect,
    )
    .option('-O, --overwrite-output <file>', 'the same, but empty the file first', collect)
    .option('--workers <n>', 'number of nodes, each a process; auto: one per processor', workerCount, 1)
    .option('--max-pages <n>', 'end the run after this many page downloads of all nodes', atLeastOne)
    .option('--min-items <n>', 'exit with 1 if the run, over all its nodes, gave fewer items', wholeNumber)
    .option('--max-failed <n>', 'exit with 1 if more requests of the run failed; 0 allows none', wholeNumber)
    .option(
      '--max-status <shares>',
      'exit with 1 if more of the pages of the run ended with a status, such as 404=5%,5xx=1%',
      statusLimits,
    )
    .option('--must-finish', 'exit with 1 if the crawl ends in any other way than finished')
    .option('--node-id <id>', 'label of this node in stats and logs')
    .option('--dry-run', 'check everything and print what would be crawled; change nothing')
    .addOption(jobOption());
}

/**
 * Crawl. In a child of `--workers`, errors go to the parent.
 * @param findSpider gives the name of the spider. @returns the exit code
 */
export async function runCrawlCommand(
  context: Context,
  findSpider: () => Promise<string>,
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  ignoreStdoutErrors();
  context.isLogged = options.dryRun !== true;
  const role = workerRole(context.env);
  try {
    return await crawl(context, role, await findSpider(), options);
  } catch (error) {
    if (role !== null) await sendToParent({ type: 'failed', code: exitCodeOf(error) });
    throw error;
  }
}

async function crawl(
  context: Context,
  role: WorkerRole | null,
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const texts = {
    ...settingTextsOf(options),
    NODE_ID: options.nodeId as string | undefined,
    CLOSESPIDER_PAGECOUNT: options.maxPages?.toString(),
  };
  const workers = role === null ? (options.workers as number) : 1;
  const beforeLoad = workers === 1 ? loadNode : undefined;
  const spider = await loadSpider(context, name, texts, (options.arg ?? {}) as Pairs, beforeLoad);
  refuseMissing(spider.loaded);
  const crawlArguments = useCrawlInMessages(context, name, spider.loaded);
  const { settings } = spider.loaded;
  const files = [list(options.output), list(options.overwriteOutput)] as const;
  const names = { name: spider.found.name, job: settings.JOB, time: new Date() };
  const targets = role === null ? feedTargets(context.cwd, ...files, settings, names) : [];
  const open = openOptions(settings, name);
  const exitWhenDone = options.exitWhenDone === true;
  return withFrontier(open, async (frontier) => {
    if (options.dryRun === true) {
      const { dryRun } = await import('../../crawler/run/dry-run.js');
      const { printDryRun } = await import('../reports/dry-run-report.js');
      printDryRun(context, await dryRun({ spider, frontier, open, targets }));
      return 0;
    }
    const crawl = {
      ...{ context, spider, crawlArguments, role, open, frontier, targets, exitWhenDone, nodes: workers },
      ...{ records: userFeedRecords(context.env, open), gates: gatesOf(options) },
    };
    return withCrawlSession(crawl, (session) =>
      workers === 1 ? runInProcess(crawl, session) : runWorkers(crawl, workers, session),
    );
  });
}

/** One node, in this process. */
async function runInProcess(crawl: Crawl, session: CrawlSession): Promise<number> {
  const { nodeId, log, display, signals } = session;
  const { drain, force } = signals;
  const { spider, role, open, frontier, targets, records, exitWhenDone, gates } = crawl;
  const parent = role === null ? null : followParent(signals, role);
  let trouble: string | null = null;
  const { result, unwritten, leftOut } = await runCrawl({
    ...{ spider, nodeId, open, frontier, targets, records, exitWhenDone, drain, force, log },
    stdout: stdoutOf(targets, signals),
    crawlArguments: crawl.crawlArguments,
    awaitsFinalTotals: needsTotals(gates),
    speaksJson: stderrIsJson(crawl.context),
    graceLeftMs: signals.graceLeftMs,
    writer: role && parent ? { feeds: role.feeds, feedsFailing: parent.feedsFailing } : null,
    siblings: parent?.siblings ?? null,
    onBegin: () => {
      if (role !== null) return;
      logSettingNotices(spider.loaded, log);
      display.start(frontier, log, () => trouble);
    },
    onTrouble: (now) => {
      trouble = now;
    },
  });
  const code = signals.forcedCode() ?? (unwritten === null ? result.exitCode : Math.max(1, result.exitCode));
  // The parent of workers judges the run, from the results of all its nodes.
  if (role === null) return finishCrawl(crawl, session, { nodes: 1, result, unwritten, leftOut, code });
  await sendToParent({ type: 'result', result, rejections: session.rejections.all });
  return code;
}

/** Several nodes, each a child of this process, which writes the feeds and shows the progress. */
async function runWorkers(crawl: Crawl, count: number, session: CrawlSession): Promise<number> {
  const { log, display, signals } = session;
  const { context, frontier, targets, records } = crawl;
  const { settings } = crawl.spider.loaded;
  const { drain, force, graceLeftMs } = signals;
  const feedsPlan = {
    ...{ frontier, settings, targets, records, drain, force, graceLeftMs, log },
    ...{ writeOrphans: true, isAwaited: crawl.exitWhenDone, stdout: stdoutOf(targets, signals) },
  };
  const runAll = async (feeds: OpenFeeds) => {
    const startedAt = performance.now();
    const before = totalsOf(await frontier.snapshot());
    const ids = targets.map(({ id }) => id);
    const { startWorkers } = await import('./workers.js');
    const metrics = await serveWorkerMetrics(crawl.spider, log);
    const workers = startWorkers(
      context,
      { count, feeds: ids, metrics, draining: drain, rejections: session.rejections },
      display,
      log,
    );
    drain.addEventListener('abort', () => workers.send({ type: 'drain' }));
    force.addEventListener('abort', () => {
      workers.send({ type: 'force', signal: signals.forcedCode() === 130 ? 'SIGINT' : 'SIGTERM' });
    });
    const stopFeedStatus = sendFeedStatus(feeds.failing, workers.send);
    logSettingNotices(crawl.spider.loaded, log);
    display.start(frontier, log, () => feeds.failing()?.why ?? null);
    const outcome = await workers.ended;
    stopFeedStatus();
    metrics?.close();
    return { outcome, before, startedAt };
  };
  const { result: ended, ...files } = await withFeeds(feedsPlan, runAll, ({ outcome }) =>
    outcome.results.some(({ hasWaited }) => hasWaited),
  );
  const { outcome, before, startedAt } = ended;
  const result = combine(outcome.results, Math.round(performance.now() - startedAt));
  // The counts of a node that died are lost. The store has them, for the crawl as a whole.
  const counted =
    outcome.died === 0
      ? null
      : await frontier.snapshot().then(
          (now) => difference(before, totalsOf(now)),
          () => null,
        );
  const code = signals.forcedCode() ?? (files.unwritten === null ? outcome.code : Math.max(1, outcome.code));
  return finishCrawl(crawl, session, { nodes: count, result: { ...result, ...counted }, ...files, code });
}

/** Null without METRICS_PORT. @throws RefusedError where no port is free */
async function serveWorkerMetrics(
  { found, loaded }: LoadedSpider,
  log: Logger,
): Promise<WorkerMetrics | null> {
  const { settings } = loaded;
  const options = metricsOptionsOf(settings, crawlName({ spider: found.name, job: settings.JOB }));
  if (options === null) return null;
  const { WorkerMetrics } = await import('./worker-metrics.js');
  return WorkerMetrics.serve(options, settings, log);
}

/** With `-o -`: when its reader is gone, the crawl ends as after a signal. */
function stdoutOf(targets: Crawl['targets'], signals: CrawlSession['signals']): Writable | undefined {
  if (!targets.some(({ isStdout }) => isStdout)) return undefined;
  return itemOutput(() => signals.requestDrain());
}

/** Send each change, so that nodes stop committing results while items cannot be written. */
function sendFeedStatus(failing: OpenFeeds['failing'], send: (message: ToWorker) => void): () => void {
  let told: string | null = null;
  const timer = setInterval(() => {
    const now = failing();
    const why = now?.why ?? null;
    if (why !== told) send({ type: 'feeds', failing: now });
    told = why;
  }, FEED_STATUS_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function workerCount(text: string): number {
  if (text === 'auto') return os.availableParallelism();
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 999, or auto.');
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a whole number, at least 0.');
}

/** `404=5%,5xx=1%` */
function statusLimits(text: string): StatusLimit[] {
  const limits = text.split(',').map((one) => {
    const [, status, percent] = /^\s*([1-5]xx|[1-9]\d\d)\s*=\s*(\d{1,3}(?:\.\d+)?)%\s*$/.exec(one) ?? [];
    if (status !== undefined && Number(percent) <= 100) return { status, percent: Number(percent) };
    throw new InvalidArgumentError('Expected shares of pages by status, such as 404=5%,5xx=1%.');
  });
  const twice = limits.find(({ status }, at) => limits.findIndex((other) => other.status === status) < at);
  if (twice === undefined) return limits;
  throw new InvalidArgumentError(`The status ${twice.status} is given twice.`);
}

function gatesOf(options: Readonly<Record<string, unknown>>): RunGates {
  const { minItems, maxFailed, maxStatus, mustFinish } = options;
  return {
    minItems: (minItems as number | undefined) ?? null,
    maxFailed: (maxFailed as number | undefined) ?? null,
    maxStatus: (maxStatus as StatusLimit[] | undefined) ?? [],
    mustFinish: mustFinish === true,
  };
}

const list = (value: unknown) => (value ?? []) as string[];
