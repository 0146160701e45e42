/** The lease verb: promote what is due, then lease the best requests of the ready domains, in order and within limits. */
import { type CrawlState, type Lease, type LeaseAnswer, MAX_WAIT_MS } from '../../frontier.js';
import { openWork } from '../crawl-row.js';
import { closeWhenSpent, isFull } from '../nodes/budgets.js';
import { showLife } from '../nodes/liveness.js';
import type { NodeRow } from '../nodes/node-row.js';
import type { Transaction } from '../transaction.js';
import { type DomainRow, delayOf, dueAtOf, startDelayTimer } from './domain-row.js';
import { grantLease, type PendingRow } from './leases.js';
import type { Order } from './order.js';
import { promoteDelayed } from './requests.js';
import { hungryWaitMs, noteHunger, STAND_BACK_MS, standsBack } from './sharing.js';
import { nextSuspectAtMs, volunteer } from './suspects.js';

/** Delayed requests and domains promoted by one call at most. */
const PROMOTE = 500;

/** Lease up to `max` requests to the node, and report the state of the crawl. */
export function lease(
  tx: Transaction,
  node: number,
  max: number,
  holding: number,
  hasStart: boolean,
): LeaseAnswer {
  const holder = tx.nodes.requireAlive(node);
  closeWhenSpent(tx);
  const { control, run_id, closing, max_pages } = tx.crawl;
  const isOpen = control === 'running' && run_id !== null && closing === null;
  const leases: Lease[] = [];
  let isStandingBack = false;
  if (isOpen && max > 0) {
    promoteDelayed(tx, PROMOTE);
    tx.domains.promote(PROMOTE);
    const room = max_pages > 0 ? Math.min(max, max_pages - tx.tally.run_pages) : max;
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
  const hasMore = leases.length === max && max > 0 && tx.domains.firstReady() !== null;
  return {
    leases,
    waitMs: !isOpen ? MAX_WAIT_MS : hasMore ? 0 : isStandingBack ? STAND_BACK_MS : waitMs(tx, holder),
    crawl,
  };
}

/** The state of the crawl. Whether it is complete is decided only here. */
export function crawlState(tx: Transaction, hasStart: boolean): CrawlState {
  const { crawl, tally } = tx;
  const seedsWaiting = tx.spaces.startUrls.reduce((sum, { good }) => sum + good.entries, 0);
  const isIdle = openWork(tally) === 0;
  return {
    control: crawl.control,
    finished:
      isIdle && seedsWaiting === 0 && (crawl.start_pushed === 1 || !hasStart) && crawl.control === 'running',
    acceptedInRun: tally.run_accepted,
    closing: crawl.closing,
    seedsWaiting,
    idleMs: isIdle ? Math.max(0, tx.nowMs - tally.busy_at) : 0,
    full: isFull(tx),
  };
}

/** Lease from the best domain while its requests sort before the next domain's head and its limits allow, then repeat. */
function takeReady(tx: Transaction, holder: NodeRow, room: number, leases: Lease[]): void {
  while (leases.length < room) {
    const best = tx.domains.firstReady();
    if (best === null) return;
    takeFrom(tx, holder, best.domain, best.rival, room - leases.length, leases);
  }
}

function takeFrom(
  tx: Transaction,
  holder: NodeRow,
  domain: DomainRow,
  rival: Order | null,
  room: number,
  leases: Lease[],
): void {
  const { crawl, tally, sql, nowMs } = tx;
  // The stored state may be stale. Writing the domain re-evaluates it, so it leaves `ready` and the loop goes on with another.
  if (dueAtOf(domain, nowMs) > nowMs || domain.active >= crawl.concurrency) return;
  const capacity = Math.min(room, delayOf(domain, crawl) > 0 ? 1 : crawl.concurrency - domain.active);
  // Take only requests that sort before the rival's head, which is then the best. Without a rival there is no such bound:
  // take only requests of the head's rank; the next iteration takes the next rank.
  const { rank, arrival } = rival ?? { rank: domain.head_rank!, arrival: Number.MAX_SAFE_INTEGER };
  const best = sql.all<PendingRow>`
    SELECT n, id, crashes, unfiltered, text FROM request LEFT JOIN record USING (n)
    WHERE space = ${domain.space} AND domain = ${domain.name} AND state = 'pending'
      AND (rank, arrival) <= (${rank}, ${arrival}) ORDER BY rank, arrival LIMIT ${capacity}`;
  for (const row of best) {
    tally.pending -= 1;
    const lease = grantLease(tx, holder, domain, row);
    if (lease !== null) leases.push(lease);
  }
  const next = sql.get<Order>`
    SELECT rank, arrival FROM request WHERE space = ${domain.space} AND domain = ${domain.name} AND state = 'pending'
    ORDER BY rank, arrival LIMIT 1`;
  domain.head_rank = next?.rank ?? null;
  domain.head_arrival = next?.arrival ?? null;
  if (best.length > 0) startDelayTimer(domain, crawl, nowMs);
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
