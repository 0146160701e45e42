/** What is said when a crawl command ends. */

import type { FeedTarget } from '../../crawler/feeds/open-feeds.js';
import type { EngineResult } from '../../engine/engine-options.js';
import { type Context, masked, print, printJson } from '../context.js';
import { crawlArguments } from '../crawl-arguments.js';
import { crawlName, howMany, n } from '../terminal/format-values.js';
import { oneLine } from '../terminal/printable.js';

export interface Summary {
  readonly spider: string;
  readonly job: string | null;
  readonly nodes: number;
  readonly result: EngineResult;
  readonly feeds: readonly FeedTarget[];
}

/** Kinds of pages without a result that are shown to people; JSON has all. */
const SHOWN_DEAD_ENDS = 5;

/** The last lines of `crawl`, on stdout. */
export function printSummary(context: Context, { spider, job, nodes, result, feeds }: Summary): void {
  const { reason, pages, items, failed, elapsedMs, message, deadEnds } = result;
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
      deadEnds: masked(context, deadEnds),
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
  for (const { what, count, example } of deadEnds.slice(0, SHOWN_DEAD_ENDS)) {
    print(context, `${what}: ${howMany(count, 'page')}, such as ${oneLine(context.mask(example))}`);
  }
  if (failed > 0) {
    const crawl = crawlArguments(context, { spider, job });
    print(context, `failed requests are kept with the crawl; "crawlnode failed ${crawl} list" says why`);
  }
  for (const { path } of feeds) print(context, `items: ${path}`);
}
