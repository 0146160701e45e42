/** What a run may use up, over all its nodes, and how many requests may wait. */
import { budgetOf, closingReasons, spentBy } from '../../budgets.js';
import type { Budgets, Effects } from '../../frontier.js';
import { budgetsOf } from '../crawl/crawl-row.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';

/** In the order of the checks. */
const names = Object.keys(closingReasons) as (keyof Budgets)[];

/** Close the run when a budget is used up. The first closing reason stays. */
export function closeWhenSpent({ crawl, tally, nowMs }: OpenCrawl): void {
  if (crawl.run_id === null || crawl.closing !== null) return;
  const budgets = budgetsOf(crawl);
  const isSpent: Record<keyof Budgets, boolean> = {
    // Only when nothing is leased: a released lease no longer counts as a page.
    maxPages: tally.run_pages >= budgets.maxPages && tally.leased === 0,
    maxItems: tally.run_items >= budgets.maxItems,
    maxErrors: tally.run_errors >= budgets.maxErrors,
    maxRunMs: nowMs - crawl.run_started_at >= budgets.maxRunMs,
  };
  const spent = names.find((name) => budgets[name] > 0 && isSpent[name]);
  if (spent === undefined) return;
  crawl.closing = closingReasons[spent];
  crawl.closing_at = nowMs;
  crawl.closing_limit = budgets[spent];
}

/** Why a node with these budgets should not begin a run: the last run was just closed by the same budget. Else null. */
export function closedJustNow({ crawl, nowMs }: OpenCrawl, budgets: Budgets): string | null {
  const name = crawl.run_id === null || crawl.closing === null ? null : budgetOf(crawl.closing);
  if (name === null) return null;
  const isSame = budgets[name] > 0 && budgets[name] === crawl.closing_limit;
  return isSame && nowMs - crawl.closing_at < crawl.node_timeout_ms ? crawl.closing : null;
}

/** Whether the page has items although the item budget is already used up. */
export function comesTooLate({ crawl, tally }: OpenCrawl, stats: Effects['stats']): boolean {
  const { run_id, max_items } = crawl;
  return run_id !== null && max_items > 0 && tally.run_items >= max_items && spentBy(stats).items > 0;
}

/** Add a page to the counts of the run. */
export function countForBudgets({ tally }: OpenCrawl, stats: Effects['stats']): void {
  const { items, errors } = spentBy(stats);
  tally.run_items += items;
  tally.run_errors += errors;
}

/** Whether pending and delayed requests are at the limit of the queue. */
export function isFull(crawl: OpenCrawl): boolean {
  const { queue_limit } = crawl.crawl;
  return queue_limit > 0 && waitingRequests(crawl) >= queue_limit;
}

/** How many discovered requests there is room for. */
export function roomForLinks(crawl: OpenCrawl): number {
  const { queue_limit } = crawl.crawl;
  return queue_limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, 2 * queue_limit - waitingRequests(crawl));
}

function waitingRequests({ tally }: OpenCrawl): number {
  return tally.pending + tally.suspects + tally.delayed;
}
