/**
 * When a crawl over several partitions is complete, and when its budgets are used up. No step sees all partitions at once.
 * So all are asked, then all again: if each was empty both times and nothing was accepted or has ended in it in between,
 * then all were empty at the instant between the two passes. A page in work is leased in its partition, so nothing was on its
 * way from one partition to another at that instant.
 */
import { budgetOf, closingReasons } from '../../budgets.js';
import type { CrawlState } from '../../frontier.js';
import type { PartLeases } from '../../redis/partitions/part-state.js';
import { summed } from '../answers/summed.js';
import type { PartitionedLeases } from '../pages/partitioned-leases.js';

/** The state of the crawl as a node is to hear it. Closes the run where a budget is used up. */
export async function judgeState(
  leases: PartitionedLeases,
  crawl: CrawlState,
  hasLeases: boolean,
  holding: number,
): Promise<CrawlState> {
  const closing = await close(leases, crawl.closing, holding);
  if (closing !== null) return { ...leases.crawl(), closing, finished: false };
  if (!crawl.finished) return crawl;
  return { ...crawl, finished: !hasLeases && (await isComplete(leases, holding)) };
}

export async function isComplete(leases: PartitionedLeases, holding = 0): Promise<boolean> {
  const first = await leases.look(holding);
  if (!first.every(({ crawl }) => crawl.finished)) return false;
  const second = await leases.look(holding);
  return second.every(({ crawl, part }, index) => crawl.finished && part.mark === first[index]?.part.mark);
}

/** @param reason with which a partition is closing already. @returns why the run closes; null if it goes on. */
async function close(
  leases: PartitionedLeases,
  reason: string | null,
  holding: number,
): Promise<string | null> {
  if (reason !== null) {
    const budget = budgetOf(reason);
    if (!leases.isClosingEverywhere)
      await leases.closeRun(reason, budget === null ? 0 : leases.budgets[budget]);
    return reason;
  }
  const budget = spentBudget(leases);
  if (budget === null) return null;
  // A released lease is no page. When nothing is leased anywhere, no page comes back.
  if (budget === 'maxPages' && !isFinal(await leases.look(holding), leases.budgets.maxPages)) return null;
  await leases.closeRun(closingReasons[budget], leases.budgets[budget]);
  return closingReasons[budget];
}

/** What a run uses of its budgets, in the order of the checks. */
const used = { maxPages: 'runPages', maxItems: 'runItems', maxErrors: 'runErrors' } as const;

function spentBudget({ budgets, states }: PartitionedLeases): keyof typeof used | null {
  const sums = summed(states.filter((state) => state !== null));
  const names = Object.keys(used) as (keyof typeof used)[];
  return names.find((name) => budgets[name] > 0 && sums[used[name]] >= budgets[name]) ?? null;
}

function isFinal(answers: readonly PartLeases[], maxPages: number): boolean {
  const { runPages, leased } = summed(answers.map(({ part }) => part));
  return runPages >= maxPages && leased === 0;
}
