/** The effects of a page's settle: its items after the pipelines, its links and its counters. */
import { CrawlnodeError } from '../../errors.js';
import { type Effects, MAX_SETTLE_BYTES } from '../../frontier/frontier.js';
import type { ItemPipelines } from '../../pipelines/item-pipeline.js';
import type { PageResult } from '../../spider/run-callback.js';
import { add, type Counters } from '../links/filter-links.js';
import type { SettledLinks } from '../links/page-links.js';

/**
 * Effects of a page's items and links, with its counters so far.
 * @throws CrawlnodeError `pipeline_error` or `too_many_items`.
 */
export async function effectsOf(
  items: PageResult['items'],
  links: SettledLinks,
  counters: Counters,
  pipelines: ItemPipelines,
): Promise<Effects> {
  if (items.length === 0) return { items: [], feedItems: [], stats: counters, ...links };

  const processed = await pipelines.process(items);
  refuseTooManyBytes(processed.listItems, processed.feedItems);
  if (processed.scraped > 0) add(counters, 'item_scraped_count', processed.scraped);
  if (processed.broken > 0) add(counters, 'item_error_count', processed.broken);
  if (processed.dropped > 0) add(counters, 'item_dropped_count', processed.dropped);
  return { items: processed.listItems, feedItems: processed.feedItems, stats: counters, ...links };
}

function refuseTooManyBytes(...lists: readonly (readonly string[])[]): void {
  let chars = 0;
  for (const list of lists) for (const text of list) chars += text.length;
  // A UTF-16 unit is at most 3 bytes of UTF-8: almost every page is cleared without counting bytes.
  if (chars * 3 <= MAX_SETTLE_BYTES) return;
  let bytes = 0;
  for (const list of lists) for (const text of list) bytes += Buffer.byteLength(text);
  if (bytes <= MAX_SETTLE_BYTES) return;
  throw new CrawlnodeError(
    'too_many_items',
    `the items of one page are ${bytes} bytes; at most ${MAX_SETTLE_BYTES} fit`,
  );
}
