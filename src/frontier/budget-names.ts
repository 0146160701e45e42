/** The closing reasons of budgets, and the counters of a page that count against them. */
import type { Budgets, Effects } from './frontier.js';

export const noBudgets: Budgets = { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 };

/** Scrapy's closing reason of each budget. */
export const closingReasons: Readonly<Record<keyof Budgets, string>> = {
  maxPages: 'closespider_pagecount',
  maxItems: 'closespider_itemcount',
  maxErrors: 'closespider_errorcount',
  maxRunMs: 'closespider_timeout',
};

/** The budget that closed a run; null for any other reason. */
export function budgetOf(reason: string): keyof Budgets | null {
  const names = Object.keys(closingReasons) as (keyof Budgets)[];
  return names.find((name) => closingReasons[name] === reason) ?? null;
}

/** Counters whose sums over a run the budgets bound. */
export const ITEMS_COUNTER = 'item_scraped_count';
export const ERRORS_COUNTER = 'spider_exceptions/count';

/** The items and errors that a page adds to its run. A negative counter counts as 0. */
export function spentBy(stats: Effects['stats']): { readonly items: number; readonly errors: number } {
  return {
    items: Math.max(0, stats[ITEMS_COUNTER] ?? 0),
    errors: Math.max(0, stats[ERRORS_COUNTER] ?? 0),
  };
}
