/** The results of several nodes as one, and what the store has counted where a node could not say what it did. */
import type { CrawlTotals, EngineResult } from '../../engine/engine-options.js';
import { sumOfDeadEnds } from '../../engine/page/dead-ends.js';
import type { Snapshot } from '../../frontier/frontier.js';
import { latestTotals } from './run-gates.js';

/** One result of several nodes of one command. */
export function combine(results: readonly EngineResult[], elapsedMs: number): EngineResult {
  const sum = (of: keyof Totals) => results.reduce((total, result) => total + result[of], 0);
  const worst =
    results.find(({ exitCode }) => exitCode !== 0) ??
    results.find(({ reason }) => reason !== 'finished') ??
    // A node that came when all was done has something to say, but not for the others.
    results.find(({ message }) => message === null) ??
    results[0];
  return {
    reason: worst?.reason ?? 'died',
    exitCode: worst?.exitCode ?? 1,
    message: worst?.message ?? null,
    ...{ pages: sum('pages'), failed: sum('failed'), items: sum('items') },
    elapsedMs,
    deadEnds: sumOfDeadEnds(results.map(({ deadEnds }) => deadEnds)),
    crawl: latestCrawl(results),
    run: latestTotals(results.map(({ run }) => run)),
  };
}

/** Totals of a crawl only grow, so the largest were read last. */
function latestCrawl(results: readonly EngineResult[]): CrawlTotals | null {
  const known = results.flatMap(({ crawl }) => (crawl === null ? [] : [crawl]));
  return known.reduce<CrawlTotals | null>(
    (latest, crawl) => (latest === null || crawl.pages >= latest.pages ? crawl : latest),
    null,
  );
}

export type Totals = Pick<EngineResult, 'pages' | 'failed' | 'items'>;

/** What the store has counted, over all nodes and since the job's first request. */
export function totalsOf({ done, failed, counters }: Snapshot): Totals {
  return { pages: done + failed, failed, items: counters.item_scraped_count ?? 0 };
}

/** What was counted between two looks; null where the crawl was cleared in between. */
export function difference(before: Totals, after: Totals): Totals | null {
  const pages = after.pages - before.pages;
  if (pages < 0) return null;
  return { pages, failed: after.failed - before.failed, items: after.items - before.items };
}
