/** The plan of a reset: whether the crawl exists, whether it is due, and how much would be deleted. */

import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { storeInWords } from '../../crawler/project/store-address.js';
import { RefusedError, UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import type { Frontier, OutboxSnapshot, Part, PartCounts } from '../../frontier/frontier.js';
import type { Settings } from '../../settings/schema.js';
import { type Context, print } from '../context.js';
import { oneLine } from '../terminal/printable.js';
import { type CleanPolicy, evaluatePolicy, type Verdict } from './clean-policy.js';

/** A crawl, with the settings that find it. */
export interface ResetCrawl {
  readonly spider: string;
  readonly job: string | null;
  readonly settings: Settings;
}

export interface ResetPlan {
  readonly crawl: ResetCrawl;
  readonly parts: readonly Part[];
  /** Null when the crawl is not due. */
  readonly counts: PartCounts | null;
  /** False when the store holds nothing of the crawl. */
  readonly existsInStore: boolean;
  /** What waits for files and item pipelines. */
  readonly waiting: readonly Pick<OutboxSnapshot, 'path' | 'waiting'>[];
  /** Null without a policy. */
  readonly verdict: Verdict | null;
}

/** Look at a crawl; nothing is changed. */
export async function planReset(
  frontier: Frontier,
  crawl: ResetCrawl,
  parts: readonly Part[],
  policy: CleanPolicy,
): Promise<ResetPlan> {
  const hasPolicy = policy.olderThanMs !== undefined || policy.largerThan !== undefined;
  const verdict = hasPolicy ? evaluatePolicy(policy, await frontier.snapshot(), parts, Date.now()) : null;
  const counts = await frontier.count();
  const existsInStore = Object.values(counts).some((count) => count > 0) || (await hasBegun(frontier));
  const waiting = await waitingItems(frontier);
  return { crawl, parts, existsInStore, verdict, waiting, counts: verdict?.isDue === false ? null : counts };
}

/** Print what will be deleted, or would be in a dry run. */
export function showPlan(
  context: Context,
  { crawl, parts, counts, verdict, waiting: outbox }: ResetPlan,
  how: { readonly dryRun: boolean; readonly backupFile?: string | undefined },
): void {
  const name = crawlName(crawl);
  if (counts === null) {
    print(context, `${name}: nothing to do: ${verdict?.why}`);
    return;
  }
  if (verdict !== null) print(context, `${name}: ${verdict.why}`);
  print(context, `${name}: ${how.dryRun ? 'would delete' : 'to be deleted'}`);
  for (const part of parts) print(context, `  ${part.padEnd(10)}  ${n(counts[part])}`);
  for (const { path, waiting } of outbox) {
    const fate = parts.includes('items') ? 'deleted too' : 'kept';
    print(context, oneLine(`  ${n(waiting)} committed items wait for ${path}: ${fate}`));
  }
  if (how.dryRun && how.backupFile !== undefined)
    print(context, oneLine(`after a backup to ${how.backupFile}`));
}

/** The plan as JSON. */
export function planJson({ crawl, parts, counts, verdict, waiting }: ResetPlan, dryRun: boolean): object {
  const { spider, job } = crawl;
  return {
    ...{ spider, job, dryRun },
    parts: counts === null ? {} : Object.fromEntries(parts.map((part) => [part, counts[part]])),
    ...(waiting.length === 0
      ? {}
      : { waiting: waiting.map(({ path, waiting: items }) => ({ path, items })) }),
    ...(verdict === null ? {} : { due: verdict.isDue, why: verdict.why }),
  };
}

/** None where the crawl is in another data format. */
async function waitingItems(frontier: Frontier): Promise<OutboxSnapshot[]> {
  try {
    return (await frontier.snapshot()).outbox.filter(({ waiting }) => waiting > 0);
  } catch (error) {
    if (error instanceof RefusedError) return [];
    throw error;
  }
}

/** Whether a node has ever joined the crawl. A crawl in another data format counts as begun. */
async function hasBegun(frontier: Frontier): Promise<boolean> {
  try {
    return (await frontier.snapshot()).beganAtMs !== null;
  } catch (error) {
    if (error instanceof RefusedError) return true;
    throw error;
  }
}

/** The error when the store holds nothing of the crawl. Usually the folder, the store or the name is wrong. */
export function noSuchCrawl({ spider, job, settings }: ResetCrawl): UsageError {
  return new UsageError(
    `there is no crawl ${crawlName({ spider, job })} in ${storeInWords(settings)}; "crawlnode stats" lists the crawls there, and -c FILE names the settings file of another project`,
    { code: 'no_such_crawl' },
  );
}
