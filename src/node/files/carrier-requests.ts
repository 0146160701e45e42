/** The requests that carry items to their next file. */
import { createHash } from 'node:crypto';
import { CrawlnodeError } from '../../errors.js';
import { type FrontierRequest, type Lease, MAX_SETTLE_BYTES } from '../../frontier/frontier.js';
import { priorityInBounds } from '../../http/message/priority.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { ItemObserver, ItemPipelines, ItemWait } from '../../pipelines/item-pipeline.js';
import { type LinkRules, toFrontier } from '../links/filter-links.js';
import type { DeadEnds } from '../page/dead-ends.js';

/** The page or file whose settle commits the requests. */
export interface Carrier {
  readonly lease: Pick<Lease, 'id' | 'token'>;
  readonly record: Pick<RequestRecord, 'url' | 'depth' | 'origin' | 'priority' | 'waitingItem'>;
  readonly pipelines: ItemPipelines;
  readonly rules: LinkRules;
  readonly deadEnds: DeadEnds;
  /** Receives the outcome of each item; absent when nobody listens. */
  readonly observer?: ItemObserver | undefined;
}

/** They are committed with their page in one step, and never before it. */
const MAX_CARRIERS = 2_000;

/**
 * Requests for the next file of each item. An item keeps the id that it has from its page.
 * @throws CrawlnodeError `too_many_items`
 */
export function carrierRequests(waiting: readonly ItemWait[], carrier: Carrier): FrontierRequest[] {
  if (waiting.length > MAX_CARRIERS) {
    const message = `${waiting.length} items of one page have files; at most ${MAX_CARRIERS} may`;
    throw new CrawlnodeError('too_many_items', message);
  }
  const requests: FrontierRequest[] = [];
  let chars = 0;
  for (const wait of waiting) {
    const request = carrierRequest(wait, carrier);
    chars += request.record.length;
    if (chars > MAX_SETTLE_BYTES) {
      const message = `the items of one page that have files are more than ${MAX_SETTLE_BYTES} bytes`;
      throw new CrawlnodeError('too_many_items', message);
    }
    requests.push(request);
  }
  return requests;
}

function carrierRequest({ number, next, ...waiting }: ItemWait, carrier: Carrier): FrontierRequest {
  const { lease, record, rules } = carrier;
  const id = record.waitingItem?.id ?? `${lease.id}-${number}`;
  const stage = carrier.pipelines.fileStage(waiting.pipeline)!;
  const { maxBytes } = stage.options;
  // Files go before pages, so that few items wait in the store.
  const priority = record.waitingItem === null ? priorityInBounds(record.priority + 1) : record.priority;
  const wanted = stage.requestAt(waiting.item, waiting.files.length, next);
  const meta = maxBytes > 0 ? { download_maxsize: maxBytes, ...wanted.meta } : wanted.meta;
  const request = wanted.replace({ priority, meta, dontFilter: true });
  // The ids differ for each lease of a page: a page that is crawled again must not collide with requests of its earlier
  // crawl.
  const unique = createHash('sha1').update(`file ${lease.id} ${lease.token} ${number} ${next}`).digest('hex');
  const place = {
    ...{ parentId: lease.id, ordinal: number, depth: record.depth, origin: record.origin },
    ...{ isTrustedSeed: false, waitingItem: { ...waiting, id } },
  };
  const names = { callback: null, errback: null };
  return toFrontier(request, names, place, { ...rules, fingerprint: () => unique }, Date.now());
}
