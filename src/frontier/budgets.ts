/** The settings and closing reasons of budgets, and the counters of a page that count against them. */
import type { Budgets, Effects } from './frontier.js';

export const noBudgets: Budgets = { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 };

/**
 * Scrapy's closing reason of each budget, in the order of the checks, for both engines. In capitals it is the name of the setting.
 */
export const closingReasons: Readonly<Record<keyof Budgets, string>> = {
  maxPages: 'closespider_pagecount',
  maxItems: 'closespider_itemcount',
  maxErrors: 'closespider_errorcount',
  maxRunMs: 'closespider_timeout',
};

export const budgetNames = Object.keys(closingReasons) as (keyof Budgets)[];

/** The budget that closed a run; null for any other reason. */
export function budgetOf(reason: string): keyof Budgets | null {
  return budgetNames.find((name) => closingReasons[name] === reason) ?? null;
}

/**
 * Sentences for the user of a node whose budgets differ from those of the run that it joins.
 * @param run those of the node that began the run, which hold for all its nodes.
 */
export function budgetNotices(run: Budgets, own: Budgets): string[] {
  return budgetNames
    .filter((name) => run[name] !== own[name])
    .map((name) => {
      const setting = `${closingReasons[name].toUpperCase()}${name === 'maxPages' ? ' (--max-pages)' : ''}`;
      const unit = name === 'maxRunMs' ? 1000 : 1;
      const shown = (value: number) => (value > 0 ? String(value / unit) : 'off');
      return (
        `${setting} is ${shown(run[name])} in this run, as the node that began it has set; ${shown(own[name])} has no ` +
        'effect. To begin a run with other limits, stop the crawl and start it again'
      );
    });
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
