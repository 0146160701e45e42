/**
 * Which pending requests are leased next: the best over all domains that are ready.
 *
 * ```
 *   ready, by the best request (head) of each domain     behind what was read
 *     a:1   b:4   c:6                                  |   d:7   e:9 …
 *     ▲ take a:1, a:2, a:3: all before b:4. The next of a is 5:
 *     b:4   a:5   c:6                                  |   d:7   e:9 …
 *     ▲ take b:4. The next of b is 8, which would sort last, so b is left out: d may be before it.
 *     a:5   c:6                                        |   d:7   e:9 …
 * ```
 *
 * Invariant: the domains in hand are sorted, no request that was left is before one that was taken, and no domain that was
 * not read is before one in hand. So each step takes the best request of all.
 */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { delayOf, dueAtOf, startDelayTimer } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import { concurrencyOf, updateState } from '../domains/domain-state.js';
import { grantLease } from '../leases/lease-records.js';
import type { NodeRow } from '../nodes/node-row.js';
import { headOf, isBefore, type Order } from './order.js';

/**
 * Lease in order over all domains: from the domain with the best head, as long as its next request sorts before the head of
 * the second-best, which is then the best. At most `room` requests are taken out of the queue, those without a record included.
 * @returns whether there are more that may be leased now.
 */
export function takeReady(tx: Transaction, holder: NodeRow, room: number, leases: Lease[]): boolean {
  for (let left = room; ; ) {
    // Where each of the first `left` domains gives a request, the last one is only the rival.
    const ready = tx.domains.ready(left + 1);
    const hasReadAll = ready.length <= left;
    while (left > 0 && ready.length > (hasReadAll ? 0 : 1)) {
      const domain = tx.domains.change(ready.shift()!.name);
      left -= takeFrom(tx, holder, domain, headOf(ready[0] ?? null), left, leases);
      updateState(domain, tx.crawl, tx.nowMs);
      if (domain.state === 'ready') insert(ready, domain, hasReadAll);
    }
    if (left === 0) return ready.length > 0;
    if (hasReadAll) return false;
  }
}

/** Sort a domain in by its head. Drop it if it would sort last and unread domains remain: one of those may sort before it. */
function insert(ready: DomainRow[], domain: DomainRow, hasReadAll: boolean): void {
  const at = ready.findIndex((other) => isBefore(headOf(domain)!, headOf(other)!));
  if (at >= 0) ready.splice(at, 0, domain);
  else if (hasReadAll) ready.push(domain);
}

/** @param rival the head of the next domain; null where there is none. @returns how many requests left the queue. */
function takeFrom(
  tx: Transaction,
  holder: NodeRow,
  domain: DomainRow,
  rival: Order | null,
  room: number,
  leases: Lease[],
): number {
  const { crawl, tally, sql, nowMs } = tx;
  const concurrency = concurrencyOf(domain, crawl);
  // Its stored state may be from before a change of limits. Then it gives nothing, and `updateState` takes it out of the ready ones.
  if (dueAtOf(domain, nowMs) > nowMs || domain.active >= concurrency) return 0;
  const capacity = Math.min(room, delayOf(domain, crawl) > 0 ? 1 : concurrency - domain.active);
  const queue = sql.all<Order & { readonly n: number }>`
    SELECT n, rank, arrival FROM request WHERE space = ${domain.space} AND domain = ${domain.name} AND state = 'pending'
    ORDER BY rank, arrival LIMIT ${capacity + 1}`;
  let dequeued = 0;
  let granted = 0;
  for (const request of queue.slice(0, capacity)) {
    if (rival !== null && isBefore(rival, request)) break;
    dequeued += 1;
    tally.pending -= 1;
    const lease = grantLease(tx, holder, domain, request.n);
    if (lease === null) continue;
    granted += 1;
    leases.push(lease);
  }
  const head = queue[dequeued];
  domain.head_rank = head?.rank ?? null;
  domain.head_arrival = head?.arrival ?? null;
  if (granted > 0) startDelayTimer(domain, crawl, nowMs);
  return dequeued;
}
