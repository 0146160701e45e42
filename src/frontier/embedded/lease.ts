/** The lease verb: promote what has come due, then take the best of the ready domains, politely and in order. */
import { type CrawlState, type Lease, type LeaseAnswer, MAX_WAIT_MS } from '../frontier.js';
import { hold, requireAlive } from './holding.js';
import type { IncarnationEntry } from './incarnation-entry.js';
import { DOMAIN_BYTES, HEAD_BYTES, keyOf, numberOf, readUint53, Table } from './keys.js';
import { closeWhenSpent, isFull } from './limits.js';
import { showLife } from './liveness.js';
import { isBefore } from './order.js';
import { bestReady, delayOf, dueAtOf, place, startClock } from './placement.js';
import { enqueue, heads, orderAt } from './queue.js';
import { decodeRequest } from './request-entry.js';
import { hungryWaitMs, noteHunger, STAND_BACK_MS, standsBack } from './sharing.js';
import { openWork } from './state.js';
import { nextSuspectAtMs, volunteer } from './suspects.js';
import type { Transaction } from './transaction.js';

/** Delayed requests and domains promoted by one call at most. */
const PROMOTE = 500;

/** Take up to `max` requests for the incarnation, and say how the crawl stands. */
export function lease(
  tx: Transaction,
  incarnation: number,
  max: number,
  holding: number,
  hasStart: boolean,
): LeaseAnswer {
  const holder = requireAlive(tx, incarnation);
  closeWhenSpent(tx);
  const { control, run } = tx.meta();
  const isOpen = control === 'running' && run !== null && run.closing === null;
  const leases: Lease[] = [];
  let isStandingBack = false;
  if (isOpen && max > 0) {
    promoteDelayed(tx);
    promoteDomains(tx, 'waiting');
    promoteDomains(tx, 'idle');
    const { maxPages } = run.budgets;
    const room = maxPages > 0 ? Math.min(max, maxPages - tx.state().runPages) : max;
    if (room > 0 && !volunteer(tx, holder, holding, leases)) {
      isStandingBack = standsBack(tx, holder);
      if (!isStandingBack) {
        takeReady(tx, holder, room, leases);
        noteHunger(tx, holder, leases.length > 0);
      }
    }
  }
  const crawl = crawlState(tx, hasStart);
  if (crawl.finished) showLife(tx, holder);
  const hasMore = leases.length === max && max > 0 && tx.state().readyDomains > 0;
  return {
    leases,
    waitMs: !isOpen ? MAX_WAIT_MS : hasMore ? 0 : isStandingBack ? STAND_BACK_MS : waitMs(tx, holder),
    crawl,
  };
}

/** How the crawl stands; true completion is decided here and nowhere else. */
export function crawlState(tx: Transaction, hasStart: boolean): CrawlState {
  const { control, run, startPushed } = tx.meta();
  const state = tx.state();
  const seedsWaiting = tx.spaces.startUrls.reduce((sum, { good }) => sum + tx.header(good).count, 0);
  const isIdle = openWork(state) === 0;
  return {
    control,
    finished: isIdle && seedsWaiting === 0 && (startPushed || !hasStart) && control === 'running',
    acceptedInRun: state.runAccepted,
    closing: run?.closing ?? null,
    seedsWaiting,
    idleMs: isIdle ? Math.max(0, tx.nowMs - state.busyAtMs) : 0,
    full: isFull(tx),
  };
}

function promoteDelayed(tx: Transaction): void {
  if (tx.state().delayed === 0) return;
  for (const key of dueOf(tx, Table.delayed)) {
    tx.deleteIndexed(key);
    tx.state().delayed -= 1;
    const number = numberOf(key);
    const bytes = tx.request(number);
    if (bytes === undefined) continue;
    const entry = decodeRequest(bytes);
    entry.arrival = tx.takeArrival();
    enqueue(tx, number, entry, bytes.length);
    place(tx, tx.ensureDomain(entry.domain));
  }
}

function promoteDomains(tx: Transaction, from: 'waiting' | 'idle'): void {
  const counter = `${from}Domains` as const;
  if (tx.state()[counter] === 0) return;
  for (const key of dueOf(tx, Table[from])) {
    const domain = tx.domainByHash(key.subarray(key.length - DOMAIN_BYTES));
    if (domain !== null) place(tx, domain);
    else {
      tx.deleteIndexed(key);
      tx.state()[counter] -= 1;
    }
  }
}

/** Up to `PROMOTE` keys whose instant has come. Nearly always there is none, so the first is asked alone. */
function dueOf(tx: Transaction, table: Table): readonly Buffer[] {
  const isDue = (key: Buffer) => readUint53(key, HEAD_BYTES) <= tx.nowMs * 1000;
  const [first] = tx.firstOf(table, 1);
  return first === undefined || !isDue(first)
    ? []
    : tx.keys(keyOf(table, tx.spaces.crawl), PROMOTE).filter(isDue);
}

/** The best domain gives as many in a row as go before the next domain's best and fit its own limits. */
function takeReady(tx: Transaction, holder: IncarnationEntry, room: number, leases: Lease[]): void {
  const limit = tx.meta().tunables.concurrencyPerDomain;
  while (leases.length < room) {
    const best = bestReady(tx);
    if (best === null) return;
    const { domain, rival } = best;
    const isSlow = delayOf(tx, domain) > 0;
    const capacity = Math.min(room - leases.length, isSlow ? 1 : limit - domain.active, domain.queued);
    const isDue = dueAtOf(tx, domain) <= tx.nowMs;
    const members = capacity > 0 && isDue ? heads(tx, domain, capacity + 1) : [];
    let taken = 0;
    for (const key of members) {
      const order = orderAt(key);
      domain.head = order;
      if (taken === capacity || (taken > 0 && rival !== null && isBefore(rival, order))) break;
      taken += 1;
      tx.deleteIndexed(key, domain.id);
      tx.state().queued -= 1;
      domain.queued -= 1;
      const lease = hold(tx, holder, domain, numberOf(key));
      // An entry without its request: skipped and counted, so that the sum of the counters holds.
      if (lease === null) tx.state().removed += 1;
      else leases.push(lease);
    }
    if (taken > 0) startClock(tx, domain);
    else if (members.length === 0 && isDue && capacity > 0) domain.queued = 0;
    place(tx, domain);
  }
}

/** Until the nearest instant at which something comes due. */
function waitMs(tx: Transaction, holder: IncarnationEntry): number {
  let next = tx.nowMs + Math.min(MAX_WAIT_MS, hungryWaitMs(tx, holder) ?? MAX_WAIT_MS);
  const { delayed, waitingDomains } = tx.state();
  for (const [table, entries] of [
    [Table.delayed, delayed],
    [Table.waiting, waitingDomains],
  ] as const) {
    if (entries === 0) continue;
    const [key] = tx.firstOf(table, 1);
    if (key !== undefined) next = Math.min(next, readUint53(key, HEAD_BYTES) / 1000);
  }
  next = Math.min(next, nextSuspectAtMs(tx, holder) ?? next);
  return Math.max(1, Math.min(MAX_WAIT_MS, Math.ceil(next - tx.nowMs)));
}
