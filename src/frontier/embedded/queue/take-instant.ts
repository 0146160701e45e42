/** Take the next instant at which a domain may be asked, for a request that has no lease. */
import type { Transaction } from '../crawl/transaction.js';
import { dueAtOf, startDelayTimer } from './domain-row.js';

/** @returns in how many ms the instant is; null where it is later than `withinMs`, or the domain is full. */
export function takeInstant(
  { crawl, domains, nowMs }: Transaction,
  name: string,
  withinMs: number,
): number | null {
  const found = domains.find(name);
  const atMs = found === null ? nowMs : Math.max(nowMs, dueAtOf(found, nowMs));
  if ((found?.active ?? 0) >= crawl.concurrency || atMs - nowMs > withinMs) return null;
  startDelayTimer(domains.change(name), crawl, atMs);
  return atMs - nowMs;
}
