/** `reset SPIDER --all-jobs`: every job of a spider in the store, including the unnamed one, or only those that are due. */
import { crawlName, crawlsInStore } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { howMany } from '../../format-amounts.js';
import type { Part } from '../../frontier/frontier.js';
import { type Context, note, print, printJson } from '../context.js';
import { confirm } from '../terminal/confirm.js';
import type { CleanPolicy } from './clean-policy.js';
import { liveNodesText } from './live-nodes.js';
import { ownParts } from './reset-parts.js';
import { noSuchCrawl, planJson, planReset, type ResetCrawl, type ResetPlan, showPlan } from './reset-plan.js';

export interface AllJobsOptions {
  readonly wanted: readonly Part[];
  readonly policy: CleanPolicy;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/**
 * Reset the jobs. Jobs with live nodes are skipped with a notice.
 * @param crawl the spider with the settings of its unnamed job
 * @returns the exit code: 3 when a job was skipped because of live nodes, unless a policy was given
 * @throws CrawlnodeError when the spider has no job in the store
 */
export async function resetAllJobs(
  context: Context,
  { spider, settings }: ResetCrawl,
  options: AllJobsOptions,
): Promise<number> {
  const found = await crawlsInStore(settings);
  if (found.isCut)
    note(context, 'this Redis has very many keys, and not all were read: there may be more jobs');
  const crawls = found.crawls
    .filter((crawl) => crawl.spider === spider)
    .map(({ job }) => ({ spider, job, settings: { ...settings, JOB: job } }));
  if (crawls.length === 0) throw noSuchCrawl({ spider, job: null, settings });

  const plans: ResetPlan[] = [];
  let busy = 0;
  for (const crawl of crawls) {
    await withJobFrontier(crawl, options, async (frontier, parts) => {
      const plan = await planReset(frontier, crawl, parts, options.policy);
      const nodes =
        plan.counts === null || options.force ? null : await liveNodesText(context, frontier, crawl);
      if (nodes === null) plans.push(plan);
      else {
        busy += 1;
        note(context, `${nodes.who}: it is not changed${nodes.remark}`);
      }
    });
  }
  const due = plans.filter(({ counts }) => counts !== null);
  if (!context.globals.json) for (const plan of plans) showPlan(context, plan, options);
  if (!options.dryRun && due.length > 0) {
    if (!options.yes)
      await confirm(context, 'reset', `Delete these parts of ${howMany(due.length, 'job')} of ${spider}?`);
    for (const { crawl } of due) {
      await withJobFrontier(crawl, options, (frontier, parts) =>
        frontier.clear(parts, { force: options.force }),
      );
      if (!context.globals.json) print(context, `${crawlName(crawl)}: deleted`);
    }
  }
  if (context.globals.json)
    printJson(
      context,
      plans.map((plan) => planJson(plan, options.dryRun)),
    );
  const isForOld = options.policy.olderThanMs !== undefined || options.policy.largerThan !== undefined;
  return busy > 0 && !isForOld ? 3 : 0;
}

function withJobFrontier<T>(
  { spider, settings }: ResetCrawl,
  { wanted, force }: AllJobsOptions,
  use: (frontier: Parameters<Parameters<typeof withFrontier>[1]>[0], parts: readonly Part[]) => Promise<T>,
): Promise<T> {
  const open = openOptions(settings, spider);
  const { parts, keys } = ownParts(wanted, settings, open, force);
  return withFrontier({ ...open, keys, acceptForeignKeys: true }, (frontier) => use(frontier, parts));
}
