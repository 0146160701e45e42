/** The verbs that move the delay timer of a domain: from the next lease on they hold for every node. */
import { type Frontier, FURTHEST_MS, type Lease } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { findLease } from '../leases/lease-records.js';
import type { JoinedNode } from '../nodes/node-row.js';
import { notePause } from '../telemetry/events.js';
import { countFromLastLease, dueAtOf, startDelayTimer } from './delay-timer.js';
import { newDomain } from './domain-row.js';
import { concurrencyOf } from './domain-state.js';

/**
 * Move the timer for a lease whose download begins later than the delay allows.
 * @returns the ms to wait before the download, or null where the node does not hold the lease.
 */
export function defer(tx: Transaction, { number: node }: JoinedNode, lease: Lease): number | null {
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

/**
 * Take the next instant at which a domain may be asked, for a request that has no lease.
 * @returns in how many ms the instant is; null where it is later than `withinMs`, or the domain is full.
 */
export function takeInstant(tx: Transaction, name: string, withinMs: number): number | null {
  const { crawl, domains, nowMs, space } = tx;
  const found = domains.find(name) ?? newDomain(space, name);
  const atMs = Math.max(nowMs, dueAtOf(found, nowMs));
  if (found.active >= concurrencyOf(found, crawl) || atMs - nowMs > withinMs) return null;
  startDelayTimer(domains.change(name), crawl, atMs);
  return atMs - nowMs;
}

/** Leave a domain alone for a while, or change its delay. */
export function throttle(
  tx: Transaction,
  name: string,
  { delayMs, forMs, source }: Parameters<Frontier['throttle']>[1],
): void {
  const { crawl, domains, nowMs } = tx;
  const domain = domains.change(name);
  if (delayMs !== undefined) {
    if (source === 'robots') domain.delay_robots = delayMs;
    else if (source === 'autothrottle') domain.delay_auto = delayMs;
    else domain.delay_setting = delayMs;
    countFromLastLease(domain, crawl, nowMs);
  }
  if (forMs !== undefined) {
    const pausedBy = source === 'retry-after' ? 'retry_after' : source === 'autothrottle' ? source : null;
    if (domain.blocked_until <= nowMs) notePause(tx, name, forMs, pausedBy);
    const untilMs = Math.ceil(nowMs + Math.min(forMs, FURTHEST_MS));
    if (untilMs > domain.blocked_until) {
      domain.blocked_until = untilMs;
      domain.paused_by = pausedBy;
    }
  }
}
