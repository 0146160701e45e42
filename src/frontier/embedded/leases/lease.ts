/** The lease verb. Its steps, in order, are those of docs/internals/leasing.md. */
import { type Lease, type LeaseAnswer, MAX_WAIT_MS, STAND_BACK_MS } from '../../frontier.js';
import { cookiesSince } from '../cookies/read-cookies.js';
import type { Transaction } from '../crawl/transaction.js';
import type { JoinedNode, NodeRow } from '../nodes/node-row.js';
import { takeReady } from '../queue/ready-requests.js';
import { promoteDelayed } from '../queue/requests.js';
import { closeWhenSpent } from '../requests/budgets.js';
import { crawlState } from '../requests/completion.js';
import { hungryWaitMs, noteHunger, standsBack } from './fair-share.js';
import { lookAtStall } from './stall.js';
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
  let mayLease = false;
  let isStandingBack = false;
  let hasMore = false;
  if (isOpen && max > 0) {
    promoteDelayed(tx, PROMOTE);
    tx.domains.promote(PROMOTE);
    const { maxPages } = run.budgets;
    const room = maxPages > 0 ? Math.min(max, maxPages - tx.tally.run_leased) : max;
    mayLease = room > 0;
    if (mayLease && !takeAsVolunteer(tx, holder, holding, leases)) {
      isStandingBack = standsBack(tx, holder);
      if (!isStandingBack) {
        // Where the page budget made the room smaller, asking again at once gives nothing.
        hasMore = takeReady(tx, holder, room, leases) && room === max;
        noteHunger(tx, holder, leases.length > 0);
      }
    }
  }
  if (isOpen && leases.length === 0) tx.dupefilter.look();
  const stall = leases.length === 0 ? lookAtStall(tx, holder, isOpen, mayLease) : null;
  const crawl = { ...crawlState(tx, hasStart, holder), stall };
  if (crawl.finished) tx.nodes.showLife(holder);
  const cookies = knownCookies === undefined ? null : cookiesSince(tx, knownCookies);
  return {
    leases,
    waitMs: !isOpen ? MAX_WAIT_MS : hasMore ? 0 : isStandingBack ? STAND_BACK_MS : waitMs(tx, holder),
    crawl,
    ...(cookies !== null && { cookies }),
  };
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
