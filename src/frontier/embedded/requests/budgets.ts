/** What a run may use up, over all its nodes, and how many requests may wait. */
import { budgetOf, closingReasons, spentBy } from '../../budgets.js';
import type { Budgets, Effects } from '../../frontier.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';
import { closeRun } from '../nodes/control.js';

/** In the order of the checks. */
const names = Object.keys(closingReasons) as (keyof Budgets)[];

/** Close the run when a budget is used up. */
export function closeWhenSpent(open: OpenCrawl): void {
  const { tally, nowMs } = open;
  const { run } = open.crawl;
  if (run?.closing !== null) return;
  const { budgets, startedAtMs } = run;
  const isSpent: Record<keyof Budgets, boolean> = {
    // Only when nothing is leased: a lease that ends unstarted gives its page back.
    maxPages: tally.run_leased >= budgets.maxPages && tally.leased === 0,
    maxItems: tally.run_items >= budgets.maxItems,
    maxErrors: tally.run_errors >= budgets.maxErrors,
    maxRunMs: nowMs - startedAtMs >= budgets.maxRunMs,
  };
  const spent = names.find((name) => budgets[name] > 0 && isSpent[name]);
  if (spent !== undefined) closeRun(open, closingReasons[spent], budgets[spent]);
}

/** Why a node with these budgets should not begin a run: the last run was just closed by the same budget. Else null. */
export function closedJustNow({ crawl, nowMs }: OpenCrawl, budgets: Budgets): string | null {
  const closing = crawl.run?.closing ?? null;
  const name = closing === null ? null : budgetOf(closing.reason);
  if (closing === null || name === null) return null;
  const isSame = budgets[name] > 0 && budgets[name] === closing.limit;
  return isSame && nowMs - closing.atMs < crawl.tunables.nodeTimeoutMs ? closing.reason : null;
}

/** Whether the page has items although the item budget is already used up. */
export function comesTooLate({ crawl, tally }: OpenCrawl, stats: Effects['stats']): boolean {
  const { maxItems = 0 } = crawl.run?.budgets ?? {};
  return maxItems > 0 && tally.run_items >= maxItems && spentBy(stats).items > 0;
}

/** Add a page to the counts of the run. */
export function countForBudgets({ tally }: OpenCrawl, stats: Effects['stats']): void {
  const { items, errors } = spentBy(stats);
  tally.run_items += items;
  tally.run_errors += errors;
}

/** Whether pending and delayed requests are at the limit of the queue. */
export function isFull(crawl: OpenCrawl): boolean {
  const { queueLimit } = crawl.crawl.tunables;
  return queueLimit > 0 && waitingRequests(crawl) >= queueLimit;
}

/** How many discovered requests there is room for. */
export function roomForLinks(crawl: OpenCrawl): number {
  const { queueLimit } = crawl.crawl.tunables;
  return queueLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, 2 * queueLimit - waitingRequests(crawl));
}

function waitingRequests({ tally }: OpenCrawl): number {
  return tally.pending + tally.suspects + tally.delayed;
}
