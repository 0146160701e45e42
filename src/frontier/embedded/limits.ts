/** What a run may use up, over all its nodes, and how many requests may wait. */
import { budgetOf, closingReasons, spentBy } from '../budgets.js';
import type { Budgets, Effects } from '../frontier.js';
import type { Run } from './meta.js';
import type { Transaction } from './transaction.js';

/** In the order they are asked. */
const names = Object.keys(closingReasons) as (keyof Budgets)[];

/** Close the run when a budget is used up; what closed it first stays. */
export function closeWhenSpent(tx: Transaction): void {
  const { run } = tx.meta();
  if (run === null || run.closing !== null) return;
  const spent = names.find((name) => run.budgets[name] > 0 && isSpent(tx, run, name));
  if (spent === undefined) return;
  const changed = tx.changeMeta().run;
  if (changed === null) return;
  changed.closing = closingReasons[spent];
  changed.closingAtMs = tx.nowMs;
  changed.closingLimit = run.budgets[spent];
}

function isSpent(tx: Transaction, { budgets, startedAtMs }: Run, name: keyof Budgets): boolean {
  const state = tx.state();
  const most = budgets[name];
  switch (name) {
    case 'maxPages':
      // Nothing is leased that could give a page back.
      return state.runPages >= most && state.leased === 0;
    case 'maxItems':
      return state.runItems >= most;
    case 'maxErrors':
      return state.runErrors >= most;
    case 'maxRunMs':
      return tx.nowMs - startedAtMs >= most;
  }
}

/** Why a node of these budgets should not begin a run: the last one was closed by the same a moment ago. */
export function closedJustNow(tx: Transaction, budgets: Budgets): string | null {
  const { run, tunables } = tx.meta();
  const name = run?.closing == null ? null : budgetOf(run.closing);
  if (run === null || name === null) return null;
  const isSame = budgets[name] > 0 && budgets[name] === run.closingLimit;
  return isSame && tx.nowMs - run.closingAtMs < tunables.nodeTimeoutMs ? run.closing : null;
}

/** A node takes part in a run: each budget that it has replaces the run's. */
export function joinBudgets(tx: Transaction, budgets: Budgets): void {
  const { run } = tx.meta();
  const brought = names.filter((name) => budgets[name] > 0 && budgets[name] !== run?.budgets[name]);
  const changed = brought.length === 0 ? null : tx.changeMeta().run;
  if (changed === null) return;
  changed.budgets = {
    ...changed.budgets,
    ...Object.fromEntries(brought.map((name) => [name, budgets[name]])),
  };
}

/** Whether a page comes with items after those the run may scrape. */
export function comesTooLate(tx: Transaction, stats: Effects['stats']): boolean {
  const most = tx.meta().run?.budgets.maxItems ?? 0;
  return most > 0 && tx.state().runItems >= most && spentBy(stats).items > 0;
}

/** Count a page against the budgets; also where there is none, since a node may bring one later. */
export function countForBudgets(tx: Transaction, stats: Effects['stats']): void {
  const { items, errors } = spentBy(stats);
  const state = tx.state();
  state.runItems += items;
  state.runErrors += errors;
}

/** Whether pending and delayed requests are at the limit of the queue. */
export function isFull(tx: Transaction): boolean {
  const { queueLimit } = tx.meta().tunables;
  return queueLimit > 0 && waitingRequests(tx) >= queueLimit;
}

/** How many discovered requests there is room for. */
export function roomForLinks(tx: Transaction): number {
  const { queueLimit } = tx.meta().tunables;
  return queueLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, 2 * queueLimit - waitingRequests(tx));
}

function waitingRequests(tx: Transaction): number {
  const { queued, suspects, delayed } = tx.state();
  return queued + suspects + delayed;
}
