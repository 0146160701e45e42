/** End one lease and commit its effects, all of it or nothing; and the two ways leases come back without a settle. */
import { priorityInBounds } from '../../http/priority.js';
import { delayInBounds } from '../bounds.js';
import { type Effects, type Lease, MAX_CRASHES, type Outcome, type SettleAnswer } from '../frontier.js';
import { acceptLinks } from './accept.js';
import type { LifeChange } from './dupefilter.js';
import { fail } from './failures.js';
import {
  finishRequest,
  follow,
  free,
  giveBack,
  type Held,
  heldRequest,
  leasesOf,
  requireAlive,
} from './holding.js';
import { incarnationName } from './incarnation-entry.js';
import { closeWhenSpent, comesTooLate, countForBudgets } from './limits.js';
import { addCounters, append } from './lists.js';
import { appendToOutbox } from './outbox.js';
import { place } from './placement.js';
import { park } from './queue.js';
import { numberInToken, tokenText } from './request-entry.js';
import type { Transaction } from './transaction.js';

const nothingWritten: SettleAnswer = { committed: false };
const sendAllLinks: SettleAnswer = { committed: false, resend: true };

/** End the lease, unless it is no longer this incarnation's. */
export function settle(
  tx: Transaction,
  incarnation: number,
  lease: Lease,
  outcome: Outcome,
  effects: Effects,
): SettleAnswer {
  const epoch = String(tx.meta().epoch);
  const holder = tx.incarnation(incarnation);
  if (holder === null || holder.isDead) return nothingWritten;
  const held = heldRequest(tx, incarnation, numberInToken(lease.token));
  if (held === null || tokenOf(held) !== lease.token || held.entry.id !== lease.id) return nothingWritten;
  const { withheld } = effects;
  if (withheld !== undefined && withheld.epoch !== epoch) return sendAllLinks;
  if (comesTooLate(tx, effects.stats)) {
    giveBack(tx, held);
    return { committed: false, closed: true };
  }
  tx.agreeOnDupefilter();
  // Before the lease ends: a page's link to itself finds a live request, also when its fingerprint was forgotten.
  const answer = acceptLinks(tx, effects.requests);
  end(tx, held, outcome, incarnationName(holder.info.id, incarnation));
  if (outcome.kind === 'done' || outcome.kind === 'failed') {
    holder.pages += 1;
    tx.keepIncarnation(holder);
  }
  countForBudgets(tx, effects.stats);
  closeWhenSpent(tx);
  addCounters(tx, effects.stats);
  if (withheld !== undefined) addCounters(tx, { 'dupefilter/filtered': withheld.count });
  append(tx, tx.spaces.items, effects.items);
  if (effects.feedItems.length > 0) {
    for (const feed of holder.info.feeds) appendToOutbox(tx, feed, effects.feedItems);
  }
  return { committed: true, epoch, ...answer };
}

function end(tx: Transaction, held: Held, outcome: Outcome, node: string): void {
  const { number, entry, size } = held;
  switch (outcome.kind) {
    case 'done':
      follow(tx, held, attemptOf(outcome, 'done'));
      finishRequest(tx, held);
      return;
    case 'released': {
      giveBack(tx, held);
      const state = tx.state();
      if (outcome.unstarted) state.runPages = Math.max(0, state.runPages - 1);
      return;
    }
    case 'retry':
      follow(tx, held, attemptOf(outcome, 'delayed'));
      free(tx, held);
      park(
        tx,
        number,
        { ...entry, priority: priorityInBounds(outcome.priority), record: outcome.record },
        delayInBounds(outcome.afterMs),
        size,
      );
      break;
    case 'failed': {
      follow(tx, held, attemptOf(outcome, 'failed'));
      free(tx, held);
      const { reason, status, attempts, detail } = outcome;
      fail(
        tx,
        number,
        entry,
        { reason, status: status ?? null, attempts, node, detail: detail ?? null },
        size,
      );
    }
  }
  place(tx, tx.ensureDomain(entry.domain));
}

const tokenOf = ({ lease, number }: Held): string => tokenText(lease, number);

/** What an attempt has made of a request. */
function attemptOf(outcome: Exclude<Outcome, { kind: 'released' }>, state: LifeChange['state']): LifeChange {
  return { state, status: outcome.status ?? null, attempts: outcome.attempts };
}

/**
 * Compare what the store thinks this incarnation holds with what it does.
 * @returns the ids held whose token is not known, and how many leases went back to pending.
 */
export function reconcile(
  tx: Transaction,
  incarnation: number,
  held: readonly Pick<Lease, 'id' | 'token'>[],
  graceMs: number,
): { lost: string[]; returned: number } {
  requireAlive(tx, incarnation);
  const tokens = new Map(held.map(({ id, token }) => [id, token]));
  let returned = 0;
  for (const stored of leasesOf(tx, incarnation, 100_000)) {
    const { id } = stored.entry;
    if (tokens.get(id) === tokenOf(stored)) tokens.delete(id);
    else if (tx.nowMs - stored.lease.atMs >= graceMs) {
      giveBack(tx, stored);
      returned += 1;
    }
  }
  return { lost: [...tokens.keys()], returned };
}

/** Move up to `max` leases of a dead incarnation: each counts a crash, the last one fails the request. */
export function moveLeases(tx: Transaction, incarnation: number, node: string, max: number): number {
  const leases = leasesOf(tx, incarnation, max);
  for (const held of leases) {
    const { entry, number, size } = held;
    const crashes = entry.crashes + 1;
    if (crashes < MAX_CRASHES) {
      entry.crashes = crashes;
      giveBack(tx, held);
      continue;
    }
    free(tx, held);
    follow(tx, held, { state: 'failed' });
    entry.crashes = crashes;
    fail(tx, number, entry, { reason: 'crashed', status: null, attempts: crashes, node, detail: null }, size);
    addCounters(tx, { 'crashed/count': 1 });
    place(tx, tx.ensureDomain(entry.domain));
  }
  return leases.length;
}
