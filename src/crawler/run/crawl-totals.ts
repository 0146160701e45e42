/** Combine the results of several nodes, or derive totals from the store when a node returned none. */

import { slowestOf } from '../../node/membership/node-state.js';
import type { CrawlTotals, NodeResult } from '../../node/node-options.js';
import { sumOfDeadEnds } from '../../node/page/dead-ends.js';
import { latestTotals } from './run-gates.js';

/** The combined result of the nodes of one command. */
export function combine(results: readonly NodeResult[], elapsedMs: number): NodeResult {
  const sum = (of: keyof CrawlTotals) => results.reduce((total, result) => total + result[of], 0);
  // Prefer a result without a message: a node that joined after the end has one that does not apply to the others.
  const good = [...results.filter(({ message }) => message === null), ...results];
  const worst =
    results.find(({ exitCode }) => exitCode !== 0) ??
    good.find(({ reason }) => reason !== 'finished') ??
    good[0];
  return {
    reason: worst?.reason ?? 'died',
    exitCode: worst?.exitCode ?? 1,
    hasWaited: results.some(({ hasWaited }) => hasWaited),
    message: worst?.message ?? null,
    ...{ pages: sum('pages'), failed: sum('failed'), items: sum('items') },
    elapsedMs,
    deadEnds: sumOfDeadEnds(results.map(({ deadEnds }) => deadEnds)),
    slowestDomain: slowestOf(results.flatMap(({ slowestDomain }) => slowestDomain ?? [])),
    unusedSlots: inAll(results.map(({ unusedSlots }) => unusedSlots)),
    customStats: latestStats(results),
    crawl: latestCrawl(results),
    run: latestTotals(results.map(({ run }) => run)),
  };
}

/** What each of the lists has. */
function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((name) => others.every((list) => list.includes(name)));
}

/** Totals of a crawl only grow, so the largest are the latest. */
function latestCrawl(results: readonly NodeResult[]): CrawlTotals | null {
  const totals = results.flatMap(({ crawl }) => (crawl === null ? [] : [crawl]));
  return totals.reduce<CrawlTotals | null>(
    (latest, crawl) => (latest === null || crawl.pages >= latest.pages ? crawl : latest),
    null,
  );
}

/** Each node reads the stats when it has ended. The last one to end knows the most pages. */
function latestStats(results: readonly NodeResult[]): NodeResult['customStats'] {
  const inOrder = [...results].sort((a, b) => (a.crawl?.pages ?? 0) - (b.crawl?.pages ?? 0));
  return Object.assign({}, ...inOrder.map(({ customStats }) => customStats));
}

/** The difference of two readings of the totals; null where the crawl was cleared in between. */
export function difference(before: CrawlTotals, after: CrawlTotals): CrawlTotals | null {
  const pages = after.pages - before.pages;
  if (pages < 0) return null;
  return { pages, failed: after.failed - before.failed, items: after.items - before.items };
}
