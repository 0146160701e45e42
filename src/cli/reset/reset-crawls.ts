/** Resets crawls: one, those of all jobs of a spider, or all of a store. First all are looked at and shown, then those that are due are deleted. */
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
import { noteRefused } from '../project/open-crawls.js';
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
  /** What the crawls are, where there may be several: one with live nodes is skipped, and the result is a list. */
  readonly several: 'jobs' | 'crawls' | null;
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
  const { policy, force, dryRun, several, file } = options;
  const plans: ResetPlan[] = [];
  for (const crawl of crawls) {
    const plan = await withOwnParts(context, crawl, options, (frontier, parts) =>
      planReset(frontier, crawl, parts, policy),
    ).catch((error: unknown) => {
      if (several !== 'crawls') throw error;
      noteRefused(context, crawl, error);
      return null;
    });
    if (plan === null) continue;
    if (!plan.existsInStore && several === 'crawls') continue;
    if (!plan.existsInStore && options.mustExist) throw noSuchCrawl(crawl);
    const needsNodesGone = plan.counts !== null && !force && (several !== null || !dryRun);
    const nodes = needsNodesGone ? liveNodesText(context, plan) : null;
    if (nodes === null) plans.push(plan);
    else if (several !== null) note(context, `${nodes.who}: it is not changed${nodes.remark}`);
    else {
      const how = `stop them first ("crawlnode stop ${crawlArguments(context, crawl)}"), or --force`;
      throw new RefusedError(`${nodes.who}; ${how}${nodes.remark}`, { code: 'live_nodes' });
    }
  }
  if (several === 'crawls') sayHowMany(context, plans);
  // Of a whole store only what is due.
  const shown = several === 'crawls' ? plans.filter(({ counts }) => counts !== null) : plans;
  if (!context.globals.json) for (const plan of shown) showPlan(context, plan, { dryRun, backupFile: file });
  const backup = dryRun ? null : await deleteDue(context, plans, options);
  if (context.globals.json) {
    const all = plans.map((plan) => ({ ...planJson(plan, dryRun), ...(backup && { backup }) }));
    printJson(context, several === null ? all[0] : all);
  }
  return plans.length < crawls.length && policy === null ? 3 : 0;
}

function sayHowMany(context: Context, plans: readonly ResetPlan[]): void {
  const due = plans.filter(({ counts }) => counts !== null).length;
  note(
    context,
    `${n(due)} of ${howMany(plans.length, 'crawl')} in the store ${due === 1 ? 'is' : 'are'} due`,
  );
}

/** @returns the backup that was written, if any */
async function deleteDue(
  context: Context,
  plans: readonly ResetPlan[],
  options: ResetOptions,
): Promise<WrittenBackup | null> {
  const { force, yes, several, file } = options;
  const due = plans.flatMap(({ crawl, counts }) => (counts === null ? [] : [{ crawl, counts }]));
  const [first] = due;
  if (first === undefined) return null;
  const ofAll =
    several === 'jobs'
      ? `${howMany(due.length, 'job')} of ${first.crawl.spider}`
      : howMany(due.length, 'crawl');
  const what = several === null ? crawlName(first.crawl) : ofAll;
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
  { wanted, force, several, file }: ResetOptions,
  use: (frontier: Frontier, parts: readonly Part[], open: ReturnType<typeof openOptions>) => Promise<T>,
): Promise<T> {
  const open = openOptions(settings, spider);
  const { parts, keys, skippedKeys } = ownParts(wanted, settings, open, force);
  if (context !== null && several === null) {
    for (const key of skippedKeys)
      note(context, `${key} is shared with other spiders and stays; --force deletes it too`);
  }
  // Keys of other programs can be deleted but not backed up.
  const options = { ...open, keys, acceptForeignKeys: file === undefined };
  return withFrontier(options, (frontier) => use(frontier, parts, options));
}
