/** Acceptance: which requests of a batch are new, and the one place where fingerprints are recorded. */
import { FrontierGoneError } from '../../../errors.js';
import { priorityInBounds } from '../../../http/message/priority.js';
import { delayInBounds, requireIds } from '../../clamp-values.js';
import type { FrontierRequest, PushAnswer, PushKind, StartPart } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { countPage, isUsedUp } from '../domains/page-quota.js';
import { deleteFailed } from '../failed/failed-list.js';
import { roomForLinks } from '../queue/queue-limit.js';
import { bytesOf, dueAfter, insertRequest, liveRequest } from '../queue/requests.js';
import { setStart, startOf } from '../seeds/starts.js';
import { isKnown, keepEarly } from './early-links.js';

/** With `allSeen`: the dupefilter now holds every request of the batch but those with dontFilter. */
export interface Accepted extends PushAnswer {
  readonly allSeen: boolean;
}

/**
 * Accept a batch. A request is new when no live one has its id and the dupefilter has not seen it; a seed skips the
 * second test, and brings a failed request back (which was accepted before, so it is not counted again). New links
 * are dropped when the queue holds twice its limit: they are not recorded, so that they are new again when there is room.
 * Likewise beyond the limit of pages per domain. A request that carries an item is never dropped.
 * @param page that has the links, with whether it pushes them before its settle
 */
export function accept(
  tx: Transaction,
  requests: readonly FrontierRequest[],
  kind: PushKind,
  page?: { readonly id: Uint8Array; readonly isEarly: boolean },
): Accepted {
  if (requests.length === 0) return { accepted: 0, duplicates: 0, allSeen: true };
  requireIds(requests);
  // A seed is taken whatever was seen, but the links of its page are not.
  if (kind !== 'links') tx.dupefilter.look();
  const isJudged = kind === 'links' || kind === 'seeds-judged';
  const room = kind === 'links' ? roomForLinks(tx) : Number.POSITIVE_INFINITY;
  const isLive = page?.isEarly !== true || liveRequest(tx, page.id) !== undefined;
  let accepted = 0;
  let dropped = 0;
  let trapped = 0;
  let allSeen = true;
  for (const request of requests) {
    const { dontFilter } = request;
    const id = bytesOf(request.id);
    const isSeen = !dontFilter && tx.dupefilter.has(id);
    if (isJudged && isSeen) continue;
    if (dontFilter && page !== undefined && isKnown(tx, { id: page.id, isLive }, id)) continue;
    const isFull = accepted >= room;
    const isTrap = kind === 'links' && isUsedUp(tx, request.domain);
    if ((isFull || isTrap) && request.carriesItem !== true && liveRequest(tx, id) === undefined) {
      if (isFull) dropped += 1;
      else trapped += 1;
      allSeen = false;
      continue;
    }
    if (insert(tx, request, id)) {
      tx.tally.accepted += 1;
      countPage(tx, request.domain);
    } else if (kind === 'links' || !reviveFailed(tx, request, id)) {
      if (!dontFilter && !isSeen) allSeen = false;
      continue;
    }
    accepted += 1;
    if (dontFilter) {
      if (page?.isEarly) keepEarly(tx, page.id, id);
      continue;
    }
    tx.dupefilter.record(id, isSeen);
    if (delayInBounds(request.delayMs) > 0) tx.dupefilter.open()?.onLife(id, { state: 'delayed' });
  }
  const duplicates = requests.length - accepted - dropped - trapped;
  if (accepted > 0) tx.tally.run_accepted += accepted;
  tx.counters.add({
    'scheduler/enqueued': accepted,
    'dupefilter/filtered': duplicates,
    'scheduler/dropped': dropped,
    'trap/domain_pages': trapped,
  });
  return {
    ...{ accepted, duplicates, allSeen },
    ...(dropped > 0 && { dropped }),
    ...(trapped > 0 && { trapped }),
  };
}

/**
 * Accept a part of the start requests, unless a node has pushed it already. Those of a generator come again from its
 * beginning when its node died: the dupefilter judges them, except those with dontFilter, which are known by their place.
 */
export function acceptStart(
  tx: Transaction,
  requests: readonly FrontierRequest[],
  kind: 'start' | 'start-generated',
  { from, total, key = '' }: StartPart,
): PushAnswer {
  const { crawl } = tx;
  const pushed = startOf(crawl, key);
  const count = requests.length;
  if (pushed !== 'pushed' && from > pushed) {
    throw new FrontierGoneError('the start requests before these are gone');
  }
  const isGenerated = kind === 'start-generated';
  let accepted = 0;
  if (pushed !== 'pushed' && (from === pushed || isGenerated)) {
    const isNew = (at: number) => !requests[at]!.dontFilter || from + at >= pushed;
    const rest = isGenerated ? requests.filter((_, at) => isNew(at)) : requests;
    accepted = accept(tx, rest, isGenerated ? 'seeds-judged' : 'start').accepted;
    const reached = Math.max(from + count, pushed);
    setStart(crawl, key, total !== null && reached >= total ? 'pushed' : reached);
  }
  const { pending, suspects, delayed } = tx.tally;
  const answer = { accepted, duplicates: count - accepted };
  return isGenerated ? { ...answer, waiting: pending + suspects + delayed } : answer;
}

/** Bring failed requests back to pending, with a new arrival and a clean record of crashes. */
export function retryFailed(tx: Transaction, requests: readonly FrontierRequest[]): number {
  requireIds(requests);
  let moved = 0;
  for (const request of requests) {
    const id = bytesOf(request.id);
    if (!reviveFailed(tx, { ...request, delayMs: 0 }, id)) continue;
    if (!request.dontFilter)
      tx.dupefilter.open()?.onLife(id, { state: 'pending', status: null, attempts: 0 });
    moved += 1;
  }
  if (moved > 0) tx.tally.run_accepted += moved;
  return moved;
}

/** Failed → pending or delayed, as the request is now. @returns whether it was failed. */
function reviveFailed(tx: Transaction, request: FrontierRequest, id: Uint8Array): boolean {
  return deleteFailed(tx, id) && insert(tx, request, id);
}

/** Write a request that is pending or delayed from now on. @returns false where its id is live already. */
function insert(tx: Transaction, request: FrontierRequest, id: Uint8Array): boolean {
  const { domain, record } = request;
  const added = { id, domain, priority: priorityInBounds(request.priority), crashes: 0, record };
  const delayMs = delayInBounds(request.delayMs);
  const arrival = tx.takeArrival();
  return insertRequest(tx, added, arrival, delayMs > 0 ? dueAfter(tx, arrival, delayMs) : null);
}
