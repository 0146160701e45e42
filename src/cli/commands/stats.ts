/** `crawlnode stats`: the state of one crawl or of all crawls, once or repeatedly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { crawlName, noSuchJob } from '../../crawler/project/crawls-in-store.js';
import { type CrawlStats, statsOf } from '../../crawler/stats/crawl-stats.js';
import { type DomainOrder, DomainReader, domainOrders } from '../../crawler/stats/domain-reports.js';
import { readHistory } from '../../crawler/stats/read-history.js';
import { type ReadCrawl, StatsReader } from '../../crawler/stats/read-stats.js';
import { UsageError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson, printJsonLine } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { parseDuration } from '../options/duration.js';
import { atLeastOne } from '../options/option-parsers.js';
import { jobOption, settingTextsOf } from '../options/spider-argument.js';
import { openAllCrawls, openToRead } from '../project/open-crawls.js';
import { loadSpiderOrSettings } from '../project/open-project.js';
import { isMissingJob } from '../reports/crawl-state-text.js';
import { detail, watchLine } from '../reports/stats-detail.js';
import { crawlsTable } from '../reports/stats-table.js';
import { domainsTable, eventsTable, historyTable } from '../reports/telemetry-tables.js';
import { stopOnSignal } from '../signals/run-until-signal.js';
import { type Paint, paintFor } from '../terminal/colour.js';
import { wrapped } from '../terminal/reflow.js';

const WATCH_MS = 1_000;

const help = `
With a spider it shows the crawl in detail. Without one it shows a row for each crawl in the store and for each spider of
the project. It puts almost no load on the store, even with --watch. The rate of pages is what the nodes report.

Examples:
  crawlnode stats
  crawlnode stats shop --watch
  crawlnode stats shop --domains --sort slow --limit 10
  crawlnode stats shop --history 6h --step 10m
  crawlnode stats shop --events
  crawlnode stats shop --json | jq .pending`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[spider]', 'without it, all crawls')
      .option(
        '--watch',
        'a live view: rates over time, nodes, domains, events (q ends it); in a pipe one line per second',
      )
      .option('--domains', 'the domains of the crawl: answers, failures, latency, and what they wait for')
      .addOption(
        new Option(
          '--sort <order>',
          'with --domains: by requests that wait, by latency, by failures, or by 401, 403 and 429',
        )
          .choices(domainOrders)
          .implies({ domains: true }),
      )
      .option('--limit <n>', 'with --domains: at most this many (default: 20)', atLeastOne)
      .option('--history <duration>', 'what happened in this time, such as 6h', parseDuration)
      .option(
        '--step <duration>',
        'with --history: a line for each step (default: 10s up to an hour, else 1m)',
        parseDuration,
      )
      .option(
        '--events',
        'the last 500 events: nodes that joined, left or died, pauses, changed settings, losses',
      )
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, [spider], options) => {
    const view = viewOf(options);
    if (view !== null && spider === undefined)
      throw new UsageError(`${view.name} needs a spider: crawlnode stats SPIDER ${view.name}`);
    const crawls = await openCrawls(context, spider, options);
    if (crawls.length === 0) note(context, 'no spiders in SPIDER_MODULES, and no crawls in the store');
    try {
      if (view !== null) return await view.show(context, crawls[0]!.frontier);
      const read = readerOf(crawls, spider !== undefined);
      const json = (all: readonly CrawlStats[]) => (spider === undefined ? all : all[0]);
      const paint = paintFor(context, context.stdout);
      const text = (all: readonly CrawlStats[]) => {
        const nowMs = Date.now();
        const columns = context.stdout.isTTY ? context.stdout.columns : null;
        if (spider === undefined) return crawlsTable(all, paint, nowMs, columns);
        return detail(all[0]!, { crawl: crawlArguments(context, all[0]!), paint, nowMs });
      };
      if (options.watch === true) {
        if (context.globals.json || !context.stdout.isTTY) await writeLines(context, read, json);
        else {
          const { watchAgain, watchCrawl } = await import('../reports/watch-crawl.js');
          if (spider === undefined) await watchAgain(context, read, text, stopOnSignal());
          else await watchCrawl(context, crawls[0]!, stopOnSignal());
        }
      } else if (crawls.length > 0 || context.globals.json) {
        const all = await read();
        const [first] = all;
        if (first !== undefined && all.every(isMissingJob))
          note(context, noSuchJob(spider === undefined ? `of the job ${first.job}` : crawlName(first)));
        if (context.globals.json) printJson(context, json(all));
        else print(context, wrapped(text(all), context.stdout, ' '.repeat(6)));
      }
      return 0;
    } finally {
      await Promise.all(crawls.map(({ frontier }) => frontier.close()));
    }
  },
};

/** One of the views that are chosen by an option. */
interface View {
  readonly name: string;
  readonly show: (context: Context, frontier: Frontier) => Promise<number>;
}

function viewOf(options: Readonly<Record<string, unknown>>): View | null {
  const { domains, sort = 'pending', limit = 20, history, step = null, events } = options;
  const chosen: View[] = [
    ...(domains === true ? [domainsView(sort as DomainOrder, limit as number)] : []),
    ...(history === undefined ? [] : [historyView(history as number, step as number | null)]),
    ...(events === true ? [eventsView] : []),
  ];
  if (chosen.length > 1) throw new UsageError(`use one of ${chosen.map(({ name }) => name).join(' and ')}`);
  if (chosen.length === 1 && options.watch === true)
    throw new UsageError(`--watch has no effect on ${chosen[0]!.name}`);
  return chosen[0] ?? null;
}

function domainsView(order: DomainOrder, most: number): View {
  const read = async (frontier: Frontier) => (await new DomainReader(frontier).page(order, most)).domains;
  return viewFrom('--domains', read, domainsTable);
}

function historyView(forMs: number, stepMs: number | null): View {
  const read = (frontier: Frontier) => {
    const now = Date.now();
    // The clock of the store may be ahead.
    return readHistory(frontier, { fromMs: now - forMs, toMs: now + 60_000, stepMs });
  };
  return viewFrom('--history', read, historyTable);
}

const eventsView = viewFrom('--events', ({ telemetry }) => telemetry.events(0), eventsTable);

/** @param text of all that was read, for people */
function viewFrom<T>(
  name: string,
  read: (frontier: Frontier) => Promise<readonly T[]>,
  text: (found: readonly T[], paint: Paint) => string,
): View {
  return {
    name,
    async show(context, frontier) {
      const found = await read(frontier);
      if (context.globals.json) printJson(context, found);
      else if (found.length === 0) note(context, 'no node has reported anything yet');
      else print(context, text(found, paintFor(context, context.stdout)));
      return 0;
    },
  };
}

/** @param isDetailed for the view of one crawl */
function readerOf(crawls: readonly ReadCrawl[], isDetailed: boolean): () => Promise<CrawlStats[]> {
  const readers = crawls.map((crawl) => {
    const reader = new StatsReader(crawl);
    return isDetailed ? () => reader.read() : async () => statsOf(crawl, await crawl.frontier.snapshot());
  });
  return () => Promise.all(readers.map((read) => read()));
}

async function openCrawls(
  context: Context,
  spider: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<ReadCrawl[]> {
  const texts = settingTextsOf(options);
  if (spider === undefined) return openAllCrawls(context, texts);
  const { loaded } = await loadSpiderOrSettings(context, spider, texts);
  return [await openToRead(spider, loaded.settings)];
}

/** Without a terminal: a line for each crawl every second, or one of JSON. */
async function writeLines(
  context: Context,
  read: () => Promise<CrawlStats[]>,
  json: (all: readonly CrawlStats[]) => unknown,
): Promise<void> {
  if (!context.globals.json)
    note(
      context,
      'this is no terminal: a line every second. --json gives all of it, and --history what was before',
    );
  const stop = stopOnSignal();
  while (!stop.aborted) {
    const all = await read();
    if (context.globals.json) printJsonLine(context, json(all));
    else for (const stats of all) print(context, watchLine(stats, new Date()));
    await sleep(WATCH_MS, undefined, { signal: stop }).catch(() => {});
  }
}
