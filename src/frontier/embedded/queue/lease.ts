/** The lease verb: promote what is due, then lease the best requests of the ready domains, in order and within limits. */
import { type CrawlState, type Lease, type LeaseAnswer, MAX_WAIT_MS } from '../../frontier.js';
import { cookiesSince } from '../cookies/read-cookies.js';
import { openWork } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';
import { delayOf, dueAtOf, startDelayTimer } from '../domains/delay-timer.js';
import type { DomainRow } from '../domains/domain-row.js';
import { concurrencyOf, updateState } from '../domains/domain-state.js';
import { areAllWritten } from '../feeds/outbox.js';
import { closeWhenSpent, isFull } from '../nodes/budgets.js';
import { asker, wasAsked } from '../nodes/idle.js';
import { type JoinedNode, type NodeRow, pipelinesOf } from '../nodes/node-row.js';
import { isStarted } from '../seeds/starts.js';
import { hungryWaitMs, noteHunger, STAND_BACK_MS, standsBack } from './fair-share.js';
import { grantLease } from './leases.js';
import { headOf, isBefore, type Order } from './order.js';
import { promoteDelayed } from './requests.js';
import { nextSuspectAtMs, takeAsVolunteer } from './suspects.js';

/** Delayed requests and domains promoted by one call at most. */
const PROMOTE = 500;

/** Lease up to `max` requests to the node, and report the state of the crawl. @param knownCookies the version it knows; absent: it wants none */
export function lease(
  tx: Transaction,
  { number, options: { hasStart } }: JoinedNode,
  max: number,
  holding: number,
  knownCookies?: number,
): LeaseAnswer {
  const holder = tx.nodes.requireAlive(number);
  closeWhenSpent(tx);
  const { control, run } = tx.crawl;
  const isOpen = control === 'running' && run?.closing === null;
  const leases: Lease[] = [];
  let isStandingBack = false;
  let hasMore = false;
  if (isOpen && max > 0) {
    promoteDelayed(tx, PROMOTE);
    tx.domains.promote(PROMOTE);
    const { maxPages } = run.budgets;
    const room = maxPages > 0 ? Math.min(max, maxPages - tx.tally.run_pages) : max;
    if (room > 0 && !takeAsVolunteer(tx, holder, holding, leases)) {
      isStandingBack = standsBack(tx, holder);
      if (!isStandingBack) {
        // Where the page budget made the room smaller, asking again at once gives nothing.
        hasMore = takeReady(tx, holder, room, leases) && room === max;
        noteHunger(tx, holder, leases.length > 0);
      }
    }
  }
  if (isOpen && leases.length === 0) tx.dupefilter.look();
  const crawl = crawlState(tx, hasStart, holder);
  if (crawl.finished) tx.nodes.showLife(holder);
  const cookies = knownCookies === undefined ? null : cookiesSince(tx, knownCookies);
  return {
    leases,
    waitMs: !isOpen ? MAX_WAIT_MS : hasMore ? 0 : isStandingBack ? STAND_BACK_MS : waitMs(tx, holder),
    crawl,
    ...(cookies !== null && { cookies }),
  };
}

/** The state of the crawl. @param node no item may wait for its pipelines */
export function crawlState(tx: Transaction, hasStart: boolean, node: NodeRow | null): CrawlState {
  const { crawl, tally } = tx;
  const seedsWaiting = tx.spaces.startUrls.reduce((sum, { good }) => sum + good.entries, 0);
  const isIdle = openWork(tally) === 0;
  const isDone =
    isIdle &&
    seedsWaiting === 0 &&
    (!hasStart || isStarted(crawl)) &&
    crawl.control === 'running' &&
    (node === null || areAllWritten(tx, pipelinesOf(node)));
  const finished = isDone && wasAsked(tx);
  return {
    control: crawl.control,
    finished,
    idleDue: isDone && !finished && asker(tx) === null,
    acceptedInRun: tally.run_accepted,
    closing: crawl.run?.closing?.reason ?? null,
    seedsWaiting,
    idleMs: isIdle ? Math.max(0, tx.nowMs - tally.busy_at) : 0,
    full: isFull(tx),
    lost: tally.lost,
    seenGone: tally.seen_gone,
    seenExpires: false,
  };
}

/**
 * Lease in order over all domains: from the domain with the best head, as long as its next request sorts before the head of
 * the second-best, which is then the best. At most `room` requests are taken out of the queue, those without a record included.
 * @returns whether there are more that may be leased now.
 */
function takeReady(tx: Transaction, holder: NodeRow, room: number, leases: Lease[]): boolean {
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

/** Sort a domain in by its head. Where it would be last and unread domains remain, leave it out: one of those may go first. */
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

/** Time until something may be due, in ms. */
function waitMs(tx: Transaction, holder: NodeRow): number {
  const { nowMs, sql, space } = tx;
  const due =
    tx.tally.delayed === 0
      ? undefined
      : sql.get<{
          due: number;
        }>`SELECT due FROM request WHERE space = ${space} AND state = 'delayed' ORDER BY due LIMIT 1`;
  const next = Math.min(
    nowMs + MAX_WAIT_MS,
    nowMs + (hungryWaitMs(tx, holder) ?? MAX_WAIT_MS),
    due === undefined ? Number.POSITIVE_INFINITY : due.due / 1000,
    tx.domains.nextDueAtMs() ?? Number.POSITIVE_INFINITY,
    nextSuspectAtMs(tx, holder) ?? Number.POSITIVE_INFINITY,
  );
  return Math.max(1, Math.min(MAX_WAIT_MS, Math.ceil(next - nowMs)));
}
