/**
 * A site whose concurrency is smaller than one node's would stay with the node that came first, since its next lease
 * follows its settle at once. So a node that got nothing is noted as hungry, and one that holds more than its share
 * of the leases stands back for a moment. With a delay the clock shares the site out by itself.
 */
import type { IncarnationEntry } from './incarnation-entry.js';
import type { Transaction } from './transaction.js';

/** For how long hunger counts. */
const HUNGRY_MS = 300;
/** When a node that stood back asks again. */
export const STAND_BACK_MS = 30;
/** A hungry node asks again soon, but the more nodes there are the less often each. */
const HUNGRY_WAIT_MS = 25;

/** Whether this node leaves the moment to another that got nothing. */
export function standsBack(tx: Transaction, holder: IncarnationEntry): boolean {
  const state = tx.state();
  if (state.hungry === 0 || state.hungry === holder.number) return false;
  if (tx.nowMs - state.hungryAtMs > HUNGRY_MS) return false;
  return holder.leased * state.alive > state.leased;
}

/** Remember whether this node went away with nothing although requests are queued. */
export function noteHunger(tx: Transaction, holder: IncarnationEntry, gotSome: boolean): void {
  const state = tx.state();
  if (gotSome || state.queued === 0 || tx.meta().tunables.delayMs > 0) {
    if (state.hungry === holder.number) state.hungry = 0;
    return;
  }
  state.hungry = holder.number;
  state.hungryAtMs = tx.nowMs;
}

/** When a hungry node should ask again; null for a node that is not. */
export function hungryWaitMs(tx: Transaction, holder: IncarnationEntry): number | null {
  const state = tx.state();
  return state.hungry === holder.number ? HUNGRY_WAIT_MS * state.alive : null;
}
