/** Resets crawls: one, or those of all jobs of a spider. First all are looked at and shown, then those that are due are deleted. */
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { openOptions, withFrontier } from '../../crawler/project/open-frontier.js';
import { shapeOf } from '../../crawler/project/settings-to-options.js';
import { RefusedError } from '../../errors.js';
import { howMany, n } from '../../format-amounts.js';
import { noteBackup } from '../../frontier/choose-engine.js';
import type { Frontier, Part } from '../../frontier/frontier.js';
import { createBackup } from '../backup/create-backup.js';
import type { WrittenBackup } from '../backup/write-backup.js';
import { type Context, note, print, printJson } from '../context.js';
import { crawlArguments } from '../messages/crawl-arguments.js';
import { confirm } from '../terminal/confirm.js';
import { oneLine } from '../terminal/printable.js';
import type { CleanPolicy } from './clean-policy.js';
import { liveNodesText } from './live-nodes.js';
import { ownParts } from './reset-parts.js';
import { noSuchCrawl, planJson, planReset, type ResetCrawl, type ResetPlan, showPlan } from './reset-plan.js';

export interface ResetOptions {
  readonly wanted: readonly Part[];
  /** Null resets in any case. */
  readonly policy: CleanPolicy | null;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
  /** The crawls are those of all jobs: one with live nodes is skipped, and the result is a list. */
  readonly allJobs: boolean;
  /** The name of a crawl may be mistyped, so one of which the store has nothing is an error. */
  readonly mustExist: boolean;
  /** The file of a backup of the crawl. */
  readonly file: string | undefined;
}

/**
 * @returns the exit code: 3 when a job was skipped because of live nodes, unless a policy was given
 * @throws UsageError when the store has nothing of a crawl that must exist; RefusedError while nodes of the crawl are live
 */
export async function resetCrawls(
  context: Context,
  crawls: readonly ResetCrawl[],
  options: ResetOptions,
): Promise<number> {
  const { policy, force, dryRun, allJobs, file } = options;
  const plans: ResetPlan[] = [];
  for (const crawl of crawls) {
    const plan = await withOwnParts(context, crawl, options, (frontier, parts) =>
      planReset(frontier, crawl, parts, policy),
    );
    if (!plan.existsInStore && options.mustExist) throw noSuchCrawl(crawl);
    const needsNodesGone = plan.counts !== null && !force && (allJobs || !dryRun);
    const nodes = needsNodesGone ? liveNodesText(context, plan) : null;
    if (nodes === null) plans.push(plan);
    else if (allJobs) note(context, `${nodes.who}: it is not changed${nodes.remark}`);
    else {
      const how = `stop them first ("crawlnode stop ${crawlArguments(context, crawl)}"), or --force`;
      throw new RefusedError(`${nodes.who}; ${how}${nodes.remark}`, { code: 'live_nodes' });
    }
  }
  if (!context.globals.json) for (const plan of plans) showPlan(context, plan, { dryRun, backupFile: file });
  const backup = dryRun ? null : await deleteDue(context, plans, options);
  if (context.globals.json) {
    const all = plans.map((plan) => ({ ...planJson(plan, dryRun), ...(backup && { backup }) }));
    printJson(context, allJobs ? all : all[0]);
  }
  return plans.length < crawls.length && policy === null ? 3 : 0;
}

/** @returns the backup that was written, if any */
async function deleteDue(
  context: Context,
  plans: readonly ResetPlan[],
  options: ResetOptions,
): Promise<WrittenBackup | null> {
  const { force, yes, allJobs, file } = options;
  const due = plans.flatMap(({ crawl, counts }) => (counts === null ? [] : [{ crawl, counts }]));
  const [first] = due;
  if (first === undefined) return null;
  const what = allJobs ? `${howMany(due.length, 'job')} of ${first.crawl.spider}` : crawlName(first.crawl);
  if (!yes) await confirm(context, 'reset', `Delete these parts of ${what}?`);
  let backup: WrittenBackup | null = null;
  for (const { crawl, counts } of due) {
    await withOwnParts(null, crawl, options, async (frontier, parts, open) => {
      if (file !== undefined) {
        const shape = shapeOf(crawl.settings);
        backup = await createBackup(context, frontier, { ...crawl, file, shape, parts, counts, force });
        await noteBackup(open, backup.file);
      }
      await frontier.clear(parts, { force });
    });
    const saved = backup as WrittenBackup | null;
    const where = saved === null ? '' : `; a backup of ${n(saved.bytes)} bytes is in ${saved.file}`;
    if (!context.globals.json) print(context, oneLine(`${crawlName(crawl)}: deleted${where}`));
  }
  return backup;
}

/** @param context where shared keys that stay are named */
function withOwnParts<T>(
  context: Context | null,
  { spider, settings }: ResetCrawl,
  { wanted, force, allJobs, file }: ResetOptions,
  use: (frontier: Frontier, parts: readonly Part[], open: ReturnType<typeof openOptions>) => Promise<T>,
): Promise<T> {
  const open = openOptions(settings, spider);
  const { parts, keys, skippedKeys } = ownParts(wanted, settings, open, force);
  if (context !== null && !allJobs) {
    for (const key of skippedKeys)
      note(context, `${key} is shared with other spiders and stays; --force deletes it too`);
  }
  // Keys of other programs can be deleted but not backed up.
  const options = { ...open, keys, acceptForeignKeys: file === undefined };
  return withFrontier(options, (frontier) => use(frontier, parts, options));
}
