/** Take the next instant at which a domain may be asked, for a request that has no lease. */
import type { Transaction } from '../crawl/transaction.js';
import { dueAtOf, startDelayTimer } from './delay-timer.js';
import { newDomain } from './domain-row.js';
import { concurrencyOf } from './domain-state.js';

/** @returns in how many ms the instant is; null where it is later than `withinMs`, or the domain is full. */
export function takeInstant(tx: Transaction, name: string, withinMs: number): number | null {
  const { crawl, domains, nowMs, space } = tx;
  const found = domains.find(name) ?? newDomain(space, name);
  const atMs = Math.max(nowMs, dueAtOf(found, nowMs));
  if (found.active >= concurrencyOf(found, crawl) || atMs - nowMs > withinMs) return null;
  startDelayTimer(domains.change(name), crawl, atMs);
  return atMs - nowMs;
}
