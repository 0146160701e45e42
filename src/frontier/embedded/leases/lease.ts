/** The lease verb. Its steps, in order, are those of docs/internals/leasing.md; `redis/lua/leases/lease.lua` has the same. */
import {
  type Lease,
  type LeaseAnswer,
  MAX_LEASES,
  MAX_LOST_AT_ONCE,
  MAX_WAIT_MS,
  STAND_BACK_MS,
} from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { cookiesSince } from '../cookies/read-cookies.js';
import { restoreShared } from '../nodes/join.js';
import type { JoinedNode, NodeRow } from '../nodes/node-row.js';
import { chooseReady, takeReady } from '../queue/ready-requests.js';
import { promoteDelayed } from '../queue/requests.js';
import { closeWhenSpent, roomForPages } from '../requests/budgets.js';
import { crawlState } from '../requests/completion.js';
import { hungryWaitMs, noteHunger, standsBack } from './fair-share.js';
import { lookAtStall } from './stall.js';
import { takeSuspect, volunteer } from './suspects.js';

interface Taken {
  readonly leases: readonly Lease[];
  /** More may be leased now. */
  readonly hasMore?: boolean;
  readonly stoodBack?: boolean;
}

/** Lease up to `max` requests to the node, and report the state of the crawl. @param knownCookies the version it knows; absent: it wants none */
export function lease(
  tx: Transaction,
  { number, options }: JoinedNode,
  max: number,
  holding: number,
  knownCookies?: number,
): LeaseAnswer {
  const holder = tx.nodes.requireAlive(number);
  const wanted = Math.min(max, MAX_LEASES);
  const notices = restoreShared(tx, options);
  closeWhenSpent(tx);
  const isOpen = tx.crawl.control === 'running' && tx.crawl.run?.closing === null;
  const room = roomForPages(tx, wanted);
  let taken: Taken = { leases: [] };
  if (isOpen && wanted > 0) {
    promoteDelayed(tx);
    tx.domains.promoteWaiting();
    if (room > 0 && tx.tally.stall_drains === 0) taken = takeAvailable(tx, holder, holding, room);
  }
  const { leases, hasMore = false, stoodBack = false } = taken;
  if (isOpen && leases.length === 0) tx.dupefilter.look();
  let nextMs = MAX_WAIT_MS;
  if (isOpen && stoodBack) nextMs = STAND_BACK_MS;
  // Where the page budget made the room smaller, asking again at once gives nothing.
  else if (isOpen) nextMs = hasMore && room === wanted ? 0 : waitMs(tx, holder);
  const stall = leases.length === 0 ? lookAtStall(tx, holder, isOpen, isOpen && room > 0) : null;
  const state = crawlState(tx, options.hasStart, options.feeds);
  const crawl = { ...state, stall, ...(notices.length > 0 && { notices }) };
  if (crawl.finished) tx.nodes.showLife(holder);
  const cookies = knownCookies === undefined ? null : cookiesSince(tx, knownCookies);
  return { leases, waitMs: nextMs, crawl, ...(cookies !== null && { cookies }) };
}

/** Take up to `room` requests for this node. */
function takeAvailable(tx: Transaction, holder: NodeRow, holding: number, room: number): Taken {
  const { isVolunteer, suspect } = volunteer(tx, holder, holding);
  if (isVolunteer) {
    const lease = suspect === null ? null : takeSuspect(tx, holder, suspect);
    return lease === null ? { leases: [], hasMore: suspect !== null } : { leases: [lease] };
  }
  if (standsBack(tx, holder)) return { leases: [], stoodBack: true };
  const taken = takeBest(tx, holder, room);
  noteHunger(tx, holder, taken.leases.length > 0);
  return taken;
}

/** Take the best ready requests, up to `room`. */
function takeBest(tx: Transaction, holder: NodeRow, room: number): Taken {
  const leases: Lease[] = [];
  let lost = 0;
  do {
    const choice = chooseReady(tx, room - leases.length);
    const taken = takeReady(tx, holder, choice);
    const lostNow = choice.requests.length - taken.length;
    lost += lostNow;
    leases.push(...taken);
    if ((choice.hasReadAll && lostNow === 0) || leases.length === room)
      return { leases, hasMore: choice.hasMore };
  } while (lost < MAX_LOST_AT_ONCE);
  return { leases, hasMore: true };
}

/** Time until something may be due, in ms. */
function waitMs(tx: Transaction, holder: NodeRow): number {
  const { nowMs, sql, space, tally, domains } = tx;
  const due =
    tally.delayed === 0
      ? undefined
      : sql.get<{
          due: number;
        }>`SELECT due FROM request WHERE space = ${space} AND state = 'delayed' ORDER BY due LIMIT 1`;
  const next = Math.min(
    nowMs + (hungryWaitMs(tx, holder) ?? MAX_WAIT_MS),
    due === undefined ? Number.POSITIVE_INFINITY : due.due / 1000,
    domains.nextDueAtMs() ?? Number.POSITIVE_INFINITY,
  );
  return Math.max(1, Math.min(MAX_WAIT_MS, Math.ceil(next - nowMs)));
}
