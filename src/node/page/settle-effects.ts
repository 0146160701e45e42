/** The effects of a page's settle: its items after the pipelines, its links and its counters. */
import { CrawlnodeError } from '../../errors.js';
import { type Effects, MAX_SETTLE_BYTES } from '../../frontier/frontier.js';
import type { ProcessedItems } from '../../pipelines/item-pipeline.js';
import type { PageResult } from '../../spider/run-callback.js';
import { type Carrier, carrierRequests } from '../files/carrier-requests.js';
import { add, type Counters } from '../links/filter-links.js';
import { noLinks, type PageLinks, type SettledLinks } from '../links/page-links.js';

/**
 * Effects of a page's items and links, with its counters so far. @param links the settled part of its links, and all of
 * them; null when the page has none @throws CrawlnodeError `pipeline_error` or `too_many_items`.
 */
export async function effectsOf(
  items: PageResult['items'],
  links: { readonly settled: SettledLinks; readonly all: PageLinks } | null,
  counters: Counters,
  carrier: Carrier,
): Promise<Effects> {
  const settled = links?.settled ?? noLinks;
  if (items.length === 0) return pageEffects([], [], counters, settled);

  const processed = await carrier.pipelines.process(items, carrier.observer);
  return settledItems(processed, settled, counters, carrier, links?.all);
}

/** The effects of items that have passed the pipelines, or wait for a file in one. */
export function settledItems(
  processed: ProcessedItems,
  settled: SettledLinks,
  counters: Counters,
  carrier: Carrier,
  links?: PageLinks,
): Effects {
  const { listItems, feedItems, scraped, broken, drops, waiting, closing } = processed;
  const carriers = carrierRequests(waiting, carrier);
  refuseTooManyBytes(
    processed,
    carriers.map(({ record }) => record),
  );
  if (scraped > 0) add(counters, 'item_scraped_count', scraped);
  if (broken > 0) add(counters, 'item_error_count', broken);
  if (drops.length > 0) add(counters, 'item_dropped_count', drops.length);
  for (const { pipeline, reason } of drops) {
    add(counters, `item_dropped_count/${pipeline}`);
    carrier.deadEnds.note(`dropped by ${pipeline}`, `${carrier.record.url}: ${reason}`, 'item');
  }
  const own = pageEffects(listItems, feedItems, counters, settled);
  const effects = closing === null ? own : { ...own, closing };
  const carriedId = carrier.record.waitingItem?.id;
  if (waiting.length === 0 && carriedId === undefined) return effects;
  return {
    ...effects,
    ...(links === undefined ? { requests: [...settled.requests, ...carriers] } : links.carry(carriers)),
    itemIds: processed.numbers.map((number) => carriedId ?? `${carrier.lease.id}-${number}`),
  };
}

function pageEffects(
  items: readonly string[],
  feedItems: readonly string[],
  stats: Counters,
  { requests, withheld }: SettledLinks,
): Effects {
  return withheld === undefined
    ? { items, feedItems, stats, requests }
    : { items, feedItems, stats, requests, withheld };
}

/** An item that goes to the items list and to files counts once. */
function refuseTooManyBytes(
  { listItems, feedItems, listChars, feedChars }: ProcessedItems,
  waiting: readonly string[],
): void {
  const chars = waiting.reduce((sum, text) => sum + text.length, listChars + feedChars);
  // A UTF-16 unit is at most 3 bytes of UTF-8, so almost no page needs its bytes counted.
  if (chars * 3 <= MAX_SETTLE_BYTES) return;
  const bytes = Math.max(bytesOf(listItems), bytesOf(feedItems)) + bytesOf(waiting);
  if (bytes <= MAX_SETTLE_BYTES) return;
  throw new CrawlnodeError(
    'too_many_items',
    `the items of one page are ${bytes} bytes; at most ${MAX_SETTLE_BYTES} fit`,
  );
}

const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
