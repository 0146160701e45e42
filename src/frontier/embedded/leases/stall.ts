/**
 * A crawl that stands still although requests are left: somebody deleted rows, and no verb finds these requests again, so the
 * nodes would wait for ever. After `STALL_MS` one node rebuilds the rows from the records (`care/repair.ts`).
 *
 * By the invariants this is never so of a crawl that waits for something: then a domain waits, a request is leased or delayed,
 * or the crawl is not open.
 */
import { STALL_MS, type Stall } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { hasUnreadableIn } from '../base/unreadable-values.js';
import { unreadableValue } from '../file/stored-json.js';
import type { NodeRow } from '../nodes/node-row.js';
import { leasesOf } from './lease-records.js';

/** Called by a lease that got nothing. @param mayLease it would have taken a request */
export function lookAtStall(
  tx: Transaction,
  { number }: NodeRow,
  isOpen: boolean,
  mayLease: boolean,
): Stall | null {
  const { crawl, tally, nowMs, nodes } = tx;
  const { stall_owner: owner, stall_drains: drains } = tally;
  const isOwned = owner !== 0 && nodes.findAlive(owner) !== null;
  if (isRebuilding(tx)) return isOwned ? null : claim(tx, number);
  if (crawl.restoring !== null || !isOpen) return null;
  if (drains === 0 && !isStuck(tx, number)) {
    tally.stall_since = 0;
    return null;
  }
  if (tally.stall_since === 0) tally.stall_since = nowMs;
  const hasWaited = drains === 1 || nowMs - tally.stall_since >= STALL_MS;
  if (!mayLease || (isOwned && owner !== number) || !hasWaited) return null;
  if (isLeased(tx)) {
    tally.stall_since = nowMs;
    return null;
  }
  return tally.stall_tried === tally.run_leased + 1 ? 'hopeless' : claim(tx, number);
}

/** Whether a node rebuilds the rows now, and has paused the crawl for it. */
export function isRebuilding({ crawl, tally }: Transaction): boolean {
  return crawl.repairing !== null && tally.stall_owner !== 0;
}

/** Whether a node holds a lease, or one is registered whose leases recovery will move. */
export function isLeased(tx: Transaction): boolean {
  return tx.nodes.all().some(({ number }) => leasesOf(tx, number, 1).length > 0);
}

function claim({ tally, nowMs }: Transaction, number: number): Stall {
  Object.assign(tally, { stall_owner: number, stall_since: nowMs });
  return 'rebuild';
}

/** Whether the counters say that requests are left, and no lease can find them. */
function isStuck(tx: Transaction, self: number): boolean {
  const { tally, domains, nodes, sql, space } = tx;
  const { pending, suspects, leased, delayed, volunteer } = tally;
  const isOthers = volunteer !== 0 && volunteer !== self && nodes.findAlive(volunteer) !== null;
  if (pending > 0 || leased > 0 || (suspects > 0 && !isOthers)) {
    if (domains.nextDueAtMs() !== null || domains.ready(1).length > 0) return false;
    if (leased === 0 && hasUnreadableIn(sql, 'domain')) throw unreadableValue('domain', 'state');
    return true;
  }
  if (suspects > 0 || delayed === 0) return false;
  return sql.get`SELECT 1 FROM request WHERE space = ${space} AND state = 'delayed' LIMIT 1` === undefined;
}
