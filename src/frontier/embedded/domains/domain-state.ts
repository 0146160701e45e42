/** The state of a domain, by its requests, its leases and its delay timer. */
import { limitsOf } from '../../shared-settings/domain-limits.js';
import { FURTHEST_MS } from '../../types/limits.js';
import type { CrawlRow } from '../base/crawl-row.js';
import { boundTimer, dueAtOf } from './delay-timer.js';
import type { DomainRow } from './domain-row.js';

/** How many leases a domain may have at the same time. */
export function concurrencyOf({ name }: DomainRow, { tunables }: CrawlRow): number {
  return limitsOf(tunables, name)?.concurrency ?? tunables.concurrencyPerDomain;
}

/** The state that follows from its row now. */
export function stateOf(domain: Readonly<DomainRow>, crawl: CrawlRow, nowMs: number): DomainRow['state'] {
  if (domain.head_rank !== null && domain.active >= concurrencyOf(domain, crawl)) return 'full';
  if (dueAtOf(domain, nowMs) > nowMs) return 'waiting';
  return domain.head_rank === null ? 'idle' : 'ready';
}

/** Update `state` and `until`. @returns whether the row can be deleted. */
export function updateState(domain: DomainRow, crawl: CrawlRow, nowMs: number): boolean {
  // No verb writes an instant more than a day ahead: a full delay begins.
  if (Math.max(domain.next_at, domain.blocked_until) > nowMs + FURTHEST_MS) boundTimer(domain, crawl, nowMs);
  domain.state = stateOf(domain, crawl, nowMs);
  domain.until = domain.state === 'waiting' ? dueAtOf(domain, nowMs) : null;
  return domain.state === 'idle' && isForgettable(domain);
}

/** A domain with a delay of its own is kept, since its row is the only record of that delay. */
function isForgettable({ active, delay_setting, delay_robots, delay_auto }: DomainRow): boolean {
  return active === 0 && delay_setting === null && delay_robots === 0 && delay_auto === 0;
}
