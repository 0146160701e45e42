/** Acceptance: which requests of a batch are new, and the one place where fingerprints are recorded. */
import { FrontierGoneError } from '../../errors.js';
import { priorityInBounds } from '../../http/priority.js';
import { delayInBounds, requireIds } from '../bounds.js';
import type { FrontierRequest, PushAnswer, PushKind, StartPart } from '../frontier.js';
import { dropFailure } from './failures.js';
import { roomForLinks } from './limits.js';
import { addCounters } from './lists.js';
import { liveRequest, type Stored, takeNumber } from './live.js';
import { enqueue, park, placeAll } from './queue.js';
import { decodeRequest, phaseOf, type RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

/**
 * Accept a batch. A request is new when no live one has its id and the dupefilter has not seen it; a seed skips the
 * second test, and brings a failed request back (which was accepted before, so it is not counted again). New links
 * that find the queue twice full are dropped: not recorded, so that they are new again when there is room.
 */
export function accept(tx: Transaction, requests: readonly FrontierRequest[], kind: PushKind): PushAnswer {
  const { allSeen: _, ...answer } = judge(tx, requests, kind);
  return answer;
}

/** Accept the links of a page, and say whether the dupefilter holds them all now, as a settle's answer does. */
export function acceptLinks(tx: Transaction, requests: readonly FrontierRequest[]): Judged {
  return judge(tx, requests, 'links');
}

interface Judged extends PushAnswer {
  readonly allSeen: boolean;
}

function judge(tx: Transaction, requests: readonly FrontierRequest[], kind: PushKind): Judged {
  if (requests.length === 0) return { accepted: 0, duplicates: 0, allSeen: true };
  requireIds(requests);
  const isJudged = kind === 'links' || kind === 'seeds-filtered';
  const touched = new Set<string>();
  const room = kind === 'links' ? roomForLinks(tx) : Number.POSITIVE_INFINITY;
  let accepted = 0;
  let allSeen = true;
  let dropped = 0;
  for (const request of requests) {
    const isSeen = !request.unfiltered && tx.dupefilter.has(request.fingerprint);
    if (isJudged && isSeen) continue;
    const live = liveRequest(tx, request.id);
    if (live !== null) {
      if (kind === 'links' || phaseOf(live.bytes) !== 'failed') {
        if (!request.unfiltered && !isSeen) allSeen = false;
        continue;
      }
      dropFailure(tx, decodeRequest(live.bytes));
    } else if (accepted >= room) {
      dropped += 1;
      allSeen = false;
      continue;
    } else {
      tx.state().accepted += 1;
    }
    accepted += 1;
    if (!request.unfiltered) tx.dupefilter.record(request.fingerprint, isSeen);
    insert(tx, request, live, request.unfiltered ? 0 : tx.dupefilter.stamp());
    touched.add(request.domain);
  }
  const duplicates = requests.length - accepted - dropped;
  if (accepted > 0) {
    tx.state().runAccepted += accepted;
    placeAll(tx, touched);
  }
  addCounters(tx, {
    'scheduler/enqueued': accepted,
    'dupefilter/filtered': duplicates,
    'scheduler/dropped': dropped,
  });
  return { accepted, duplicates, ...(dropped > 0 && { dropped }), allSeen };
}

/** Accept a part of the start requests, unless a node has pushed it already. */
export function acceptStart(
  tx: Transaction,
  requests: readonly FrontierRequest[],
  { from, total }: StartPart,
): PushAnswer {
  const { startPushed, startCount } = tx.meta();
  if (startPushed || from < startCount) return { accepted: 0, duplicates: requests.length };
  if (from > startCount) throw new FrontierGoneError('the start requests before these are gone');
  const meta = tx.changeMeta();
  meta.startCount = from + requests.length;
  meta.startPushed = meta.startCount >= total;
  return accept(tx, requests, 'start');
}

/** Bring failed requests back to pending, with a new arrival and a clean record of crashes. */
export function retryFailed(tx: Transaction, requests: readonly FrontierRequest[]): number {
  requireIds(requests);
  const touched = new Set<string>();
  let moved = 0;
  for (const request of requests) {
    const live = liveRequest(tx, request.id);
    if (live === null || phaseOf(live.bytes) !== 'failed') continue;
    const before = decodeRequest(live.bytes);
    dropFailure(tx, before);
    if (!request.unfiltered)
      tx.dupefilter.onLife(request.id, { state: 'pending', status: null, attempts: 0 });
    insert(tx, { ...request, delayMs: 0 }, live, before.recorded);
    touched.add(request.domain);
    moved += 1;
  }
  if (moved > 0) {
    tx.state().runAccepted += moved;
    placeAll(tx, touched);
  }
  return moved;
}

/** Write a request that is pending or delayed from now on; one that was live keeps its number. */
function insert(
  tx: Transaction,
  request: FrontierRequest,
  live: Stored | null,
  recorded: RequestEntry['recorded'],
): void {
  const number = live?.number ?? takeNumber(tx, request.id);
  const before = live?.bytes.length ?? 0;
  const entry: RequestEntry = {
    id: request.id,
    phase: 'pending',
    crashes: 0,
    unfiltered: request.unfiltered,
    priority: priorityInBounds(request.priority),
    arrival: 0,
    at: 0,
    recorded,
    domain: request.domain,
    record: request.record,
  };
  const delayMs = delayInBounds(request.delayMs);
  if (delayMs > 0) {
    if (!request.unfiltered) tx.dupefilter.onLife(request.id, { state: 'delayed' });
    park(tx, number, entry, delayMs, before);
  } else {
    entry.arrival = tx.takeArrival();
    enqueue(tx, number, entry, before);
  }
}
