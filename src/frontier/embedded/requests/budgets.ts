/** What a run may use up, over all its nodes. */
import { budgetNames, budgetOf, closingReasons, spentBy } from '../../budgets.js';
import type { Budgets, Effects } from '../../frontier.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import { closeRun } from '../crawl/control.js';

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
  const spent = budgetNames.find((name) => budgets[name] > 0 && isSpent[name]);
  if (spent !== undefined) closeRun(open, closingReasons[spent], budgets[spent]);
}

/** How many pages the page budget leaves; null without one. */
export function pagesLeft({ crawl, tally }: OpenCrawl): number | null {
  const maxPages = crawl.run?.budgets.maxPages ?? 0;
  return maxPages === 0 ? null : Math.max(0, maxPages - tally.run_leased);
}

/** How many of `wanted` requests the page budget leaves room for. */
export function roomForPages(open: OpenCrawl, wanted: number): number {
  return Math.min(wanted, pagesLeft(open) ?? wanted);
}

/** Reserve a page: each lease is one. */
export function reservePage({ tally }: OpenCrawl): void {
  tally.run_leased += 1;
}

/** Give the page of a lease back whose download did not begin. */
export function giveBackPage({ tally }: OpenCrawl): void {
  tally.run_leased = Math.max(0, tally.run_leased - 1);
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
