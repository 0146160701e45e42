/** `crawlnode stats`: how one crawl stands, or all of the project's; once, or again and again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { RefusedError } from '../../errors.js';
import type { Snapshot } from '../../frontier/frontier.js';
import { openFrontier } from '../../frontier/open.js';
import type { CliCommand } from '../commands.js';
import { type Context, note, print, printJson } from '../context.js';
import { jobOption, textsOf } from '../job-option.js';
import { discover, loadProject, loadSpider, loadSpiderOrSettings, openOptions } from '../open-project.js';
import { type CrawlStats, statsOf, statsTable } from '../stats-view.js';

const WATCH_MS = 1_000;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[spider]', 'without it, all spiders of the project')
      .option('--watch', 'show it anew every second')
      .addOption(jobOption()),
  run: async (context, [spider], options) => {
    const crawls = await openCrawls(context, spider, options);
    try {
      const read = () =>
        Promise.all(
          crawls.map(async (crawl) => {
            const snapshot = await crawl.frontier.snapshot();
            return { stats: statsOf(crawl, snapshot), snapshot };
          }),
        );
      if (crawls.length === 0)
        note(
          context,
          'no spiders in SPIDER_MODULES; "crawlnode stats NAME" shows a crawl without its module',
        );
      const show = (looks: readonly Look[]) =>
        spider === undefined ? looks.map(({ stats }) => stats) : looks[0]?.stats;
      if (options.watch === true) await watch(context, read, show);
      else if (context.globals.json) printJson(context, show(await read()));
      else print(context, tables(await read()));
      return 0;
    } finally {
      await Promise.all(crawls.map(({ frontier }) => frontier.close()));
    }
  },
};

/** A crawl at one instant. */
interface Look {
  readonly stats: CrawlStats;
  readonly snapshot: Snapshot;
}

const tables = (looks: readonly Look[]) =>
  looks.map(({ stats, snapshot }) => statsTable(stats, snapshot)).join('\n\n');

type Crawl = {
  readonly spider: string;
  readonly job: string | null;
  readonly frontier: Awaited<ReturnType<typeof openFrontier>>;
};

async function openCrawls(
  context: Context,
  spider: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<Crawl[]> {
  const texts = textsOf(options);
  if (spider !== undefined) {
    const { loaded, missing } = await loadSpiderOrSettings(context, spider, texts);
    if (missing !== null) note(context, missing);
    const { settings } = loaded;
    return [{ spider, job: settings.JOB, frontier: await openFrontier(openOptions(settings, spider)) }];
  }
  const { settings } = loadProject(context, texts).loaded;
  const crawls: Crawl[] = [];
  for (const name of (await discover(settings)).spiders.keys()) {
    const own = (await loadSpider(context, name, texts)).loaded.settings;
    try {
      crawls.push({ spider: name, job: own.JOB, frontier: await openFrontier(openOptions(own, name)) });
    } catch (error) {
      // One crawl that may not be touched does not hide the others.
      if (!(error instanceof RefusedError)) throw error;
      note(context, `${name}: ${error.message}`);
    }
  }
  return crawls;
}

/** On a terminal the table redraws in place; in a pipe each look is one line of JSON, or one table. */
async function watch(
  context: Context,
  read: () => Promise<Look[]>,
  show: (looks: readonly Look[]) => unknown,
): Promise<void> {
  const draw = await drawer(context);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  while (!stop.signal.aborted) {
    const all = await read();
    if (context.globals.json) print(context, JSON.stringify(show(all)));
    else draw(tables(all));
    await sleep(WATCH_MS, undefined, { signal: stop.signal }).catch(() => {});
  }
}

async function drawer(context: Context): Promise<(text: string) => void> {
  if (!context.stdout.isTTY) return (text) => print(context, `${text}\n`);
  const { createLogUpdate } = await import('log-update');
  return createLogUpdate(process.stdout);
}
