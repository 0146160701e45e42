/** The defer verb: move the delay timer of a domain for a lease whose download begins later than its delay allows. */
import type { Lease } from '../../frontier.js';
import type { Transaction } from '../crawl/transaction.js';
import { findLease } from '../queue/leases.js';
import { dueAtOf, startDelayTimer } from './delay-timer.js';

/** @returns the ms to wait before the download, or null where the node does not hold the lease. */
export function defer(tx: Transaction, node: number, lease: Lease): number | null {
  const { crawl, domains, nowMs } = tx;
  tx.nodes.requireAlive(node);
  const held = findLease(tx, node, lease.token, lease.id);
  if (held === null) return null;
  const domain = domains.change(held.domain);
  // Where nothing was leased from the domain since, the instant of this lease is still its own.
  const dueAtMs = domain.last_at === held.leased_at ? domain.blocked_until : dueAtOf(domain, nowMs);
  const beginAtMs = Math.max(nowMs, dueAtMs);
  startDelayTimer(domain, crawl, beginAtMs);
  return beginAtMs - nowMs;
}
