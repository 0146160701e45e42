/** `crawlnode list`: the spiders of the project, or with `--store` the crawls of the store. Modules that do not load are reported. */
import type { Command } from 'commander';
import { statsOf, storedBytes } from '../../crawler/stats/crawl-stats.js';
import { SpiderLoadError } from '../../errors.js';
import { problemsOf, unexportedText } from '../../spider/loading/discover.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { openAllCrawls } from '../project/open-crawls.js';
import { discover, loadProject } from '../project/open-project.js';
import { storeTable } from '../reports/stats-table.js';

const help = `
Loads every module in the folders of SPIDER_MODULES, and prints the names of the spiders, one per line. Modules that do not
load are also reported, and the exit code is then 2.

--store prints the crawls of the store instead, those of other projects included: since when each exists, how much it takes
(memory in Redis, disk on the embedded engine), since when no node and no command has changed it, and its last run. "crawlnode
reset --all-crawls --older-than 30d" deletes what nobody uses.

Examples:
  crawlnode list
  crawlnode list --json | jq -r '.[].file'
  crawlnode list --store`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .option('--store', 'the crawls of the store, with age, size and last run')
      .addHelpText('after', help),
  run: async (context, _, options) => {
    if (options.store === true) return listStore(context);
    const { settings } = await loadProject(context);
    const discovery = await discover(context, settings);
    const spiders = [...discovery.spiders.values()];
    if (context.globals.json) {
      printJson(
        context,
        spiders.map(({ name, file }) => ({ name, file })),
      );
    } else for (const { name } of spiders) print(context, name);
    const problems = problemsOf(discovery);
    if (problems.length > 0) throw new SpiderLoadError(problems.join('\n'));
    for (const unexported of discovery.unexported) note(context, unexportedText(unexported));
    if (spiders.length === 0 && discovery.unexported.length === 0)
      note(context, `no spiders in ${settings.SPIDER_MODULES.join(', ')}`);
    return 0;
  },
};

async function listStore(context: Context): Promise<number> {
  const opened = await openAllCrawls(context, {});
  try {
    const all = await Promise.all(
      opened.map(async (crawl) => statsOf(crawl, await crawl.frontier.snapshot())),
    );
    const crawls = all.filter(({ beganAtMs, startUrls }) => beganAtMs !== null || startUrls > 0);
    if (context.globals.json) {
      const found = crawls.map(({ spider, job, beganAtMs, usedAtMs, bytes, state, run }) => ({
        ...{ spider, job, beganAtMs, usedAtMs, bytes: storedBytes({ bytes }), state },
        lastRun: run && { startedAt: run.startedAt, endedAt: run.endedAt, closed: run.closed },
      }));
      printJson(context, found);
    } else if (crawls.length === 0) note(context, 'no crawls in the store');
    else print(context, storeTable(crawls, Date.now()));
    return 0;
  } finally {
    await Promise.all(opened.map(({ frontier }) => frontier.close()));
  }
}
