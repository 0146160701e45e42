/**
 * Which pending requests are leased next: the best over all domains that are ready.
 * docs/internals/leasing.md has a picture.
 *
 * Invariant: the candidates are sorted, no request that was left is before one that was chosen, and no domain that was not read
 * is before a candidate. So each step chooses the best request of all. `room + 1` domains are read, since each gives one at least.
 *
 * `chooseReady` changes nothing; `takeReady` takes what was chosen out of the queue.
 */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { delayOf, startDelayTimer } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import { concurrencyOf, stateOf } from '../domains/domain-state.js';
import { grantLease } from '../leases/lease-records.js';
import type { NodeRow } from '../nodes/node-row.js';
import { headOf, isBefore, type Order } from './order.js';

interface QueuedRequest extends Order {
  readonly n: number;
}

/** A domain among which is chosen. */
interface Candidate {
  readonly domain: Readonly<DomainRow>;
  /** How many requests it may give. */
  readonly room: number;
  /** The first requests of its queue, one more than are chosen; null until the first is. */
  queue: readonly QueuedRequest[] | null;
  /** How many it has given. */
  count: number;
  /** Its next request that is not chosen. */
  head: Order | null;
}

/** Requests in order, the domains that were looked at, and whether others may be leased now. */
export interface Choice {
  readonly requests: readonly { readonly n: number; readonly candidate: Candidate }[];
  readonly candidates: readonly Candidate[];
  readonly hasMore: boolean;
  /** All ready domains were looked at. */
  readonly hasReadAll: boolean;
}

/** Choose up to `room` requests, in order: one of the best domain, which is then sorted in again by its next request. */
export function chooseReady(tx: Transaction, room: number): Choice {
  // If each of room + 1 domains yields a request, nothing behind the last one can be reached.
  const candidates = tx.domains.ready(room + 1).map((domain) => candidateOf(tx, domain));
  const hasReadAll = candidates.length <= room;
  const looked = new Set<Candidate>();
  const requests: { n: number; candidate: Candidate }[] = [];
  while (requests.length < room && candidates.length > 0) {
    const candidate = candidates.shift()!;
    looked.add(candidate);
    const request = chooseFrom(tx, candidate, room);
    if (request !== undefined) requests.push({ n: request.n, candidate });
    if (candidate.head !== null && candidate.count < candidate.room)
      insert(candidates, candidate, hasReadAll);
  }
  return { requests, candidates: [...looked], hasMore: candidates.length > 0 || !hasReadAll, hasReadAll };
}

function candidateOf({ crawl, nowMs }: Transaction, domain: DomainRow): Candidate {
  const free = delayOf(domain, crawl) > 0 ? 1 : concurrencyOf(domain, crawl) - domain.active;
  // Its stored state may be from before a change of limits: then it gives nothing.
  const isReady = stateOf(domain, crawl, nowMs) === 'ready';
  return { domain, room: isReady ? free : 0, queue: null, count: 0, head: headOf(domain) };
}

/** The next request of a domain, within its limits. @param most that are chosen in all */
function chooseFrom({ sql }: Transaction, candidate: Candidate, most: number): QueuedRequest | undefined {
  const { domain, room, count } = candidate;
  if (count === room) return undefined;
  candidate.queue ??= sql.all<QueuedRequest>`
    SELECT n, rank, arrival FROM request WHERE space = ${domain.space} AND domain = ${domain.name} AND state = 'pending'
    ORDER BY rank, arrival LIMIT ${Math.min(room, most) + 1}`;
  const request = candidate.queue[count];
  if (request !== undefined) candidate.count += 1;
  candidate.head = candidate.queue[candidate.count] ?? null;
  return request;
}

/** Sort a domain in by its head. Drop it if it would sort last and unread domains remain: one of those may sort before it. */
function insert(candidates: Candidate[], candidate: Candidate, hasReadAll: boolean): void {
  const at = candidates.findIndex(({ head }) => isBefore(candidate.head!, head!));
  if (at >= 0) candidates.splice(at, 0, candidate);
  else if (hasReadAll) candidates.push(candidate);
}

/** Lease what was chosen, and start the delay timers. @returns the leases; a request whose record is gone gives none. */
export function takeReady(tx: Transaction, holder: NodeRow, { requests, candidates }: Choice): Lease[] {
  const domains = new Map<Candidate, DomainRow>();
  for (const candidate of candidates) {
    const domain = tx.domains.change(candidate.domain.name);
    domain.head_rank = candidate.head?.rank ?? null;
    domain.head_arrival = candidate.head?.arrival ?? null;
    domains.set(candidate, domain);
  }
  const leases: Lease[] = [];
  const leasedFrom = new Set<DomainRow>();
  for (const { n, candidate } of requests) {
    const domain = domains.get(candidate)!;
    tx.tally.pending -= 1;
    const lease = grantLease(tx, holder, domain, n);
    if (lease === null) continue;
    leasedFrom.add(domain);
    leases.push(lease);
  }
  for (const domain of leasedFrom) startDelayTimer(domain, tx.crawl, tx.nowMs);
  return leases;
}
