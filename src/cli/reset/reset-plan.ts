/** The plan of a reset: whether the crawl exists, whether it is due, and how much would be deleted. */

import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { storeInWords } from '../../crawler/project/store-address.js';
import { RefusedError, UsageError } from '../../errors.js';
import { n } from '../../format-amounts.js';
import type { Frontier, OutboxSnapshot, Part, PartCounts, Snapshot } from '../../frontier/frontier.js';
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
  /** As the store has the crawl; the refusal to read one in another data format. */
  readonly snapshot: Snapshot | RefusedError;
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
  policy: CleanPolicy | null,
): Promise<ResetPlan> {
  const snapshot = await frontier.snapshot().catch((error: unknown) => {
    if (!(error instanceof RefusedError) || policy !== null) throw error;
    return error;
  });
  const isUnread = snapshot instanceof RefusedError;
  const verdict = policy === null || isUnread ? null : evaluatePolicy(policy, snapshot, parts, Date.now());
  const counts = await frontier.count();
  return {
    ...{ crawl, parts, verdict, snapshot },
    counts: verdict?.isDue === false ? null : counts,
    existsInStore:
      Object.values(counts).some((count) => count > 0) || isUnread || snapshot.beganAtMs !== null,
    waiting: isUnread ? [] : snapshot.outbox.filter(({ waiting }) => waiting > 0),
  };
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
  if (parts.includes('queue') && !parts.includes('dupefilter') && counts.dupefilter > 0) {
    const again = 'the next crawl fetches the start pages again, so that their items come twice';
    print(context, `  ${again}, and follows no link that the dupefilter knows`);
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

/** The error when the store holds nothing of the crawl. Usually the folder, the store or the name is wrong. */
export function noSuchCrawl({ spider, job, settings }: ResetCrawl): UsageError {
  return new UsageError(
    `there is no crawl ${crawlName({ spider, job })} in ${storeInWords(settings)}; "crawlnode stats" lists the crawls there, and -c FILE names the settings file of another project`,
    { code: 'no_such_crawl' },
  );
}
