/**
 * `crawlnode crawl`: run one node in this process, or several as children of it. Both are the same story:
 * settings and spider, frontier, feeds, nodes, what is left of the feeds, summary.
 */
import os from 'node:os';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { feedTargets } from '../../crawler/feeds/open-feeds.js';
import { withFeeds } from '../../crawler/feeds/with-feeds.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { combine, difference, totalsOf } from '../../crawler/run/crawl-totals.js';
import { runCrawl } from '../../crawler/run/run-crawl.js';
import { loadNode } from '../../crawler/run/run-node.js';
import type { EngineResult } from '../../engine/engine-options.js';
import type { CliCommand } from '../command.js';
import { type Context, speaksJson } from '../context.js';
import { type Crawl, type Tools, withTools } from '../crawl/crawl-session.js';
import { printSummary } from '../crawl/summary.js';
import {
  obeyParent,
  type ToWorker,
  tellParent,
  type WorkerRole,
  workerRole,
} from '../crawl/worker-channel.js';
import { exitCodeOf, fatalLine } from '../error-report.js';
import { spiderWords } from '../options/crawl-argument.js';
import { jobOption, textsOf } from '../options/job-option.js';
import { addPair, type Pairs } from '../options/name-value-pairs.js';
import { endureBrokenPipe } from '../output-streams.js';
import { loadSpider, speakOf } from '../project/open-project.js';
import { oneLine } from '../terminal/printable.js';

/** How often the parent tells its nodes whether the feeds can be written. */
const FEEDS_NEWS_MS = 1_000;

const help = `
Give the same command again to go on with a crawl, and from as many terminals or machines as you like to have more nodes
work on it. Ctrl-C finishes what is in work and leaves; a second one leaves at once. Nothing is lost either way.
With -o or -O each committed item is in the file exactly once, however the nodes end. -O begins its file anew with each new
crawl (another job, a reset, a flush); one that goes on, goes on with its file.

Examples:
  crawlnode crawl shop -o shop.jsonl --exit-when-done     crawl to the end, then leave
  crawlnode crawl shop --workers auto                     a service: go on, and wait for seeds
  crawlnode crawl shop -O today.csv --max-pages 100 --job trial
  crawlnode crawl shop -a category=shoes -s DOWNLOAD_DELAY=1

Exit codes: 0 done, also when pages failed (the last lines say so); 1 failed at run time; 2 wrong usage, settings or
spider; 3 refused, such as another shape of crawl; 4 the store cannot be reached.`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('<spider>', spiderWords)
      .option('-a, --arg <name=value>', 'an argument for the spider; may repeat', addPair)
      .option(
        '-o, --output <file>',
        'append items to a .jsonl, .json or .csv file, or to FILE:FORMAT; may repeat',
        collect,
      )
      .option('-O, --overwrite-output <file>', 'the same, beginning the file anew', collect)
      .option('--workers <n>', 'so many nodes, each a process; auto is one a processor', workerCount, 1)
      .option('--exit-when-done', 'leave when the crawl is truly over, instead of waiting for seeds')
      .option('--max-pages <n>', 'close after so many page downloads of all nodes')
      .option('--node-id <id>', 'label of this node in stats and logs')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [name = ''], options) => {
    endureBrokenPipe();
    const role = workerRole(context.env);
    try {
      return await crawl(context, role, name, options);
    } catch (error) {
      if (role !== null) await tellParent({ type: 'failed', code: exitCodeOf(error) });
      throw error;
    }
  },
};

async function crawl(
  context: Context,
  role: WorkerRole | null,
  name: string,
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const texts = {
    ...textsOf(options),
    NODE_ID: options.nodeId as string | undefined,
    CLOSESPIDER_PAGECOUNT: options.maxPages as string | undefined,
  };
  const workers = role === null ? (options.workers as number) : 1;
  const beforehand = workers === 1 ? loadNode : undefined;
  const spider = await loadSpider(context, name, texts, (options.arg ?? {}) as Pairs, beforehand);
  const typed = speakOf(context, name, spider);
  const { settings } = spider.loaded;
  const files = [list(options.output), list(options.overwriteOutput)] as const;
  const targets = role === null ? feedTargets(context.cwd, ...files, settings) : [];
  const open = openOptions(settings, name);
  const exitWhenDone = options.exitWhenDone === true;
  return withFrontier(open, (frontier) => {
    const crawl = { context, spider, typed, role, open, frontier, targets, exitWhenDone };
    return withTools(crawl, (tools) =>
      workers === 1 ? runHere(crawl, tools) : runWorkers(crawl, workers, tools),
    );
  });
}

/** One node, in this process. */
async function runHere(crawl: Crawl, tools: Tools): Promise<number> {
  const { nodeId, log, display, signals } = tools;
  const { drain, force } = signals;
  const { spider, role, open, frontier, targets, exitWhenDone } = crawl;
  const parent = role === null ? null : obeyParent(signals);
  let trouble: string | null = null;
  const { result, unwritten } = await runCrawl({
    ...{ spider, nodeId, open, frontier, targets, exitWhenDone, drain, force, log },
    crawlArguments: crawl.typed,
    speaksJson: speaksJson(crawl.context),
    graceLeftMs: signals.graceLeftMs,
    writer: role && parent ? { feeds: role.feeds, feedsFailing: parent.feedsFailing } : null,
    siblings: parent?.siblings ?? null,
    onBegin: () => {
      if (role === null) display.start(frontier, log, () => trouble);
    },
    onTrouble: (now) => {
      trouble = now;
    },
  });
  const code = signals.forcedCode() ?? (unwritten === null ? result.exitCode : 1);
  if (role !== null) await tellParent({ type: 'result', result });
  else finish(crawl, tools, { nodes: 1, result, unwritten, code });
  return code;
}

/** Several nodes, each a child of this process, which writes the feeds and shows the progress. */
async function runWorkers(crawl: Crawl, count: number, tools: Tools): Promise<number> {
  const { log, display, signals } = tools;
  const { context, frontier, targets } = crawl;
  const { settings } = crawl.spider.loaded;
  const { drain, force, graceLeftMs } = signals;
  const feedsPlan = { frontier, settings, targets, writeOrphans: true, force, graceLeftMs, log };
  const { result: ended, unwritten } = await withFeeds(feedsPlan, async (feeds) => {
    const startedAt = performance.now();
    const before = totalsOf(await frontier.snapshot());
    const ids = targets.map(({ id }) => id);
    const { startWorkers } = await import('../crawl/workers.js');
    const workers = startWorkers(context, { count, feeds: ids, draining: drain }, display, log);
    drain.addEventListener('abort', () => workers.send({ type: 'drain' }));
    force.addEventListener('abort', () => {
      workers.send({ type: 'force', signal: signals.forcedCode() === 130 ? 'SIGINT' : 'SIGTERM' });
    });
    const stopNews = tellFeedsNews(feeds.failing, workers.send);
    display.start(frontier, log, feeds.failing);
    const outcome = await workers.ended;
    stopNews();
    return { outcome, before, startedAt };
  });
  const { outcome, before, startedAt } = ended;
  const result = combine(outcome.results, Math.round(performance.now() - startedAt));
  // A node that died could not say what it did; the store can, for the crawl as a whole.
  const counted =
    outcome.died === 0
      ? null
      : await frontier.snapshot().then(
          (now) => difference(before, totalsOf(now)),
          () => null,
        );
  const code = signals.forcedCode() ?? (unwritten === null ? outcome.code : Math.max(1, outcome.code));
  finish(crawl, tools, { nodes: count, result: { ...result, ...counted }, unwritten, code });
  return code;
}

/** Tell every change, so that nodes pause their settling while items cannot be written. */
function tellFeedsNews(failing: () => string | null, send: (message: ToWorker) => void): () => void {
  let told: string | null = null;
  const timer = setInterval(() => {
    const now = failing();
    if (now !== told) send({ type: 'feeds', failing: now });
    told = now;
  }, FEEDS_NEWS_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface Ending {
  readonly nodes: number;
  readonly result: EngineResult;
  /** Why items of our own could not be written. */
  readonly unwritten: string | null;
  /** What the process ends with. */
  readonly code: number;
}

/** The log's last line says how it ended, as the exit code does. */
function finish(
  { context, spider, targets }: Crawl,
  { display, log, fatal }: Tools,
  { nodes, result, unwritten, code }: Ending,
): void {
  display.stop();
  const inFile = spider.loaded.settings.LOG_FILE !== null;
  // A person at a terminal reads it in the summary.
  if (inFile || !context.stderr.isTTY) {
    const { reason, pages, items, failed, elapsedMs, exitCode, message } = result;
    const isGood = (unwritten === null ? code : exitCode) === 0;
    const givenUp = exitCode === 0 && code === 1 ? `${reason}, but a node was given up` : reason;
    if (isGood) log.info({ reason, pages, items, failed, elapsedMs, nodes }, `ended: ${reason}`);
    else fatal({ code: reason, exitCode: code }, message ?? givenUp);
  }
  if (unwritten !== null) {
    const why = `${unwritten}; committed items wait in the frontier, and the same command writes them`;
    const fields = { code: 'feed_unwritable', exitCode: code };
    context.stderr.write(fatalLine(context, oneLine(why), fields));
    if (inFile) fatal(fields, why);
  }
  printSummary(context, {
    spider: spider.found.name,
    job: spider.loaded.settings.JOB,
    ...{ nodes, result, feeds: targets },
  });
}

function workerCount(text: string): number {
  if (text === 'auto') return os.availableParallelism();
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Expected a number from 1 to 999, or auto.');
}

const list = (value: unknown) => (value ?? []) as string[];
const collect = (value: string, all: string[] = []) => [...all, value];
