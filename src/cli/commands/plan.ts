/** `crawlnode plan`: what a crawl of a given size takes. */
import type { Command } from 'commander';
import { benchedPage } from '../../crawler/plan/costs.js';
import { measuredCosts } from '../../crawler/plan/measured-costs.js';
import { planOf } from '../../crawler/plan/plan.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { UsageError } from '../../errors.js';
import type { Settings } from '../../settings/schema.js';
import type { CliCommand } from '../command.js';
import { type Context, printResult } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { aboveZero, atLeastOne } from '../options/option-parsers.js';
import { jobOption, settingTextsOf, splitJob } from '../options/spider-argument.js';
import { loadProject, loadSpiderOrSettings } from '../project/open-project.js';
import { planReport } from '../reports/plan-report.js';

const help = `
Calculates nodes, CPU and memory of Redis with each dupefilter, network and time. It needs no store, and starts nothing. The cost
of a page is that of the benches, on a machine of theirs. With --from it is that of a crawl of yours, from what its nodes
have reported: crawl a sample for a minute or longer first, better for ten.

CONCURRENT_REQUESTS, CONCURRENT_REQUESTS_PER_DOMAIN, DOWNLOAD_DELAY and SCHEDULER_QUEUE_LIMIT are those of the project, or of
the spider of --from.

Examples:
  crawlnode plan --pages 1e9 --domains 1e6 --rate 2000
  crawlnode plan --pages 5e6 --domains 300 --rate 50 --from shop
  crawlnode plan --pages 1e9 --domains 1e6 --rate 2000 --json | jq .nodes.count`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .requiredOption('--pages <n>', 'pages to fetch, such as 1e9', atLeastOne)
      .requiredOption('--domains <n>', 'domains that they are on', atLeastOne)
      .requiredOption('--rate <pages/s>', 'pages per second, of all nodes together', aboveZero)
      .option('--from <spider>', 'a crawl whose pages were measured: SPIDER or SPIDER@JOB')
      .addOption(jobOption())
      .addHelpText('after', help),
  run: async (context, _, options) => {
    const work = {
      pages: options.pages as number,
      domains: options.domains as number,
      pagesPerSecond: options.rate as number,
    };
    if (work.domains > work.pages)
      throw new UsageError(
        `--domains ${work.domains} is more than --pages ${work.pages}: give each domain a page or more`,
      );
    if (typeof options.from !== 'string' && options.job !== undefined)
      throw new UsageError('--job is of the crawl of --from: add --from SPIDER');
    const measured =
      typeof options.from === 'string' ? await measure(context, splitJob(options.from, options)) : null;
    const settings = measured?.settings ?? (await loadProject(context)).settings;
    const plan = planOf(work, measured?.costs ?? benchedPage, {
      slots: settings.CONCURRENT_REQUESTS,
      slotsPerDomain: settings.CONCURRENT_REQUESTS_PER_DOMAIN,
      delay: settings.DOWNLOAD_DELAY,
      queueLimit: settings.SCHEDULER_QUEUE_LIMIT,
    });
    printResult(
      context,
      { ...plan, from: measured?.crawl ?? null, measuredPages: measured?.pages ?? null },
      planReport(plan, measured),
    );
    return 0;
  },
};

async function measure(context: Context, { spider, options }: ReturnType<typeof splitJob>) {
  const { loaded } = await loadSpiderOrSettings(context, spider, settingTextsOf(options));
  const settings: Settings = loaded.settings;
  const measured = await withFrontier({ ...openOptions(settings, spider), allowEviction: true }, (frontier) =>
    measuredCosts(frontier, settings.STATS_HISTORY * 1_000),
  );
  return { ...measured, settings, crawl: crawlArguments(context, { spider, job: settings.JOB }) };
}
