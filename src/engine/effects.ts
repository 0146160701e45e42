/** What a page gave becomes what its settle commits: items through the pipelines, requests in the page's order. */
import { CrawlnodeError } from '../errors.js';
import {
  type Effects,
  type Frontier,
  type FrontierRequest,
  MAX_SETTLE_BYTES,
  MAX_SETTLE_REQUESTS,
  PUSH_CHUNK,
} from '../frontier/frontier.js';
import type { ItemPipelines } from '../pipelines/item-pipeline.js';
import type { DiscoveredRequest, PageResult } from '../spider/run-callback.js';
import { add, admit, type Counters, type LinkRules, linked, type Page } from './discovered.js';
import type { Outage } from './outage.js';
import type { Flight } from './slots.js';

export interface EffectsDeps {
  readonly frontier: Frontier;
  readonly pipelines: ItemPipelines;
  readonly rules: LinkRules;
  readonly outage: Outage;
}

/**
 * Effects of a page's items and requests, with its counters so far.
 * @throws CrawlnodeError `pipeline_error`, `too_many_items`, or why a request cannot be stored; errors of the
 *   frontier when a page with very many requests pushes the first of them early.
 */
export async function effectsOf(
  result: PageResult,
  flight: Flight,
  page: Page,
  counters: Counters,
  deps: EffectsDeps,
): Promise<Effects> {
  const requests =
    result.requests.length === 0 ? [] : await takeRequests(result.requests, flight, page, counters, deps);
  if (result.items.length === 0) return { items: [], feedItems: [], requests, stats: counters };

  const processed = await deps.pipelines.process(result.items);
  refuseTooManyBytes(processed.listItems, processed.feedItems);
  if (processed.scraped > 0) add(counters, 'item_scraped_count', processed.scraped);
  if (processed.dropped > 0) add(counters, 'item_dropped_count', processed.dropped);
  return { items: processed.listItems, feedItems: processed.feedItems, requests, stats: counters };
}

/**
 * Filter and convert, a chunk at a time: of a page with a million links only those of the settle and one chunk
 * are ever held in stored form. What is pushed early stays accepted even if the lease is lost (DESIGN §5, Bounds).
 */
async function takeRequests(
  found: readonly DiscoveredRequest[],
  flight: Flight,
  page: Page,
  counters: Counters,
  deps: EffectsDeps,
): Promise<FrontierRequest[]> {
  const depth = page.record.depth + 1;
  const nowMs = Date.now();
  let taken: FrontierRequest[] = [];
  for (const [ordinal, one] of found.entries()) {
    if (!admit(one.request, depth, deps.rules, counters)) continue;
    if (taken.length === MAX_SETTLE_REQUESTS) {
      await pushEarly(taken.slice(0, PUSH_CHUNK), flight, deps);
      taken = taken.slice(PUSH_CHUNK);
    }
    taken.push(linked(one, ordinal, page, deps.rules, nowMs));
  }
  return taken;
}

async function pushEarly(chunk: FrontierRequest[], flight: Flight, deps: EffectsDeps): Promise<void> {
  const push = () => deps.frontier.push(chunk, 'links');
  await deps.outage.through('push', flight.signal, push);
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
