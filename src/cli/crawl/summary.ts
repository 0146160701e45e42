/** What is said when a crawl command ends. */

import type { FeedTarget } from '../../crawler/feeds/open-feeds.js';
import type { EngineResult } from '../../engine/engine-options.js';
import type { Snapshot } from '../../frontier/frontier.js';
import { type Context, print, printJson } from '../context.js';
import { crawlArguments } from '../crawl-arguments.js';
import { crawlName, n } from '../terminal/format-values.js';
import { oneLine } from '../terminal/printable.js';

export interface Summary {
  readonly spider: string;
  readonly job: string | null;
  readonly nodes: number;
  readonly result: EngineResult;
  readonly feeds: readonly FeedTarget[];
}

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
  };
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

/** The last lines of `crawl`, on stdout. */
export function printSummary(context: Context, { spider, job, nodes, result, feeds }: Summary): void {
  const { reason, pages, items, failed, elapsedMs, message } = result;
  if (context.globals.json) {
    const files = feeds.map(({ path }) => path);
    printJson(context, {
      spider,
      job,
      reason,
      pages,
      items,
      failed,
      nodes,
      elapsedMs,
      message,
      feeds: files,
    });
    return;
  }
  const where = nodes === 1 ? '' : ` on ${nodes} nodes`;
  const seconds = (elapsedMs / 1000).toFixed(1);
  print(
    context,
    `${crawlName({ spider, job })}: ${reason}, ${n(pages)} pages, ${n(items)} items, ${n(failed)} failed, ${seconds} s${where}`,
  );
  if (message !== null) print(context, oneLine(context.mask(message)));
  if (failed > 0) {
    const crawl = crawlArguments(context, { spider, job });
    print(context, `failed requests are kept with the crawl; "crawlnode failed ${crawl} list" says why`);
  }
  for (const { path } of feeds) print(context, `items: ${path}`);
}
