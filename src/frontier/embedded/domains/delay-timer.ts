/** The delay between two requests to a domain: how long it is, and from when on it runs. */
import { limitsOf } from '../../shared-settings/domain-limits.js';

import { FURTHEST_MS } from '../../types/limits.js';

import type { CrawlRow } from '../base/crawl-row.js';
import type { DomainRow } from './domain-row.js';

/** The delay between two leases of a domain: the longest that any source asks for. */
export function delayOf(domain: DomainRow, crawl: CrawlRow): number {
  return Math.max(settingsDelayOf(domain, crawl), domain.delay_robots, autoDelayOf(domain, crawl));
}

/** The delay that the settings give a domain. `delay_setting` comes from `throttle`. */
export function settingsDelayOf(domain: DomainRow, { tunables }: CrawlRow): number {
  return domain.delay_setting ?? limitsOf(tunables, domain.name)?.delayMs ?? tunables.delayMs;
}

/** The delay that AutoThrottle asks for; 0 while it is off. */
export function autoDelayOf({ delay_auto }: DomainRow, { tunables }: CrawlRow): number {
  if (tunables.autothrottle === null) return 0;
  return delay_auto > 0 ? delay_auto : tunables.autothrottle.startDelayMs;
}

/** From when on the domain may be leased from. */
export function dueAtOf(domain: DomainRow, nowMs: number): number {
  return Math.min(Math.max(domain.next_at, domain.blocked_until), nowMs + FURTHEST_MS);
}

/** Whether the timer runs until an instant that no verb can have written, as when somebody changed the row. */
export function waitsTooLong(domain: DomainRow, crawl: CrawlRow, nowMs: number): boolean {
  // The delay may have been longer when the timer started, and is randomized.
  const longestMs = FURTHEST_MS + 2 * delayOf(domain, crawl);
  return domain.next_at > nowMs + longestMs || domain.blocked_until > nowMs + FURTHEST_MS;
}

/** No instant of a domain is later than its delay explains; a throttle that is longer than any is over. */
export function boundTimer(domain: DomainRow, crawl: CrawlRow, nowMs: number): void {
  domain.next_at = Math.min(domain.next_at, Math.ceil(nowMs + delayOf(domain, crawl)));
  if (domain.blocked_until > nowMs + FURTHEST_MS) domain.blocked_until = 0;
}

/** A delay that is learnt after a lease counts from that lease on. */
export function countFromLastLease(domain: DomainRow, crawl: CrawlRow, nowMs: number): void {
  const delayMs = delayOf(domain, crawl);
  if (delayMs === 0 || domain.last_at === 0) return;
  domain.next_at = Math.max(domain.next_at, Math.ceil(Math.min(domain.last_at, nowMs) + delayMs));
}

/** Note a download that begins at `beginAtMs`, and start the delay from it. A randomized delay is never shorter than the delay itself. */
export function startDelayTimer(domain: DomainRow, crawl: CrawlRow, beginAtMs: number): void {
  domain.last_at = beginAtMs;
  const delayMs = delayOf(domain, crawl);
  if (delayMs === 0) return;
  domain.next_at = Math.ceil(beginAtMs + delayMs * (isRandomized(domain, crawl) ? 1 + Math.random() / 2 : 1));
}

/** Whether each delay of a domain is made longer by a random part of up to a half. */
export function isRandomized({ name }: DomainRow, { tunables }: CrawlRow): boolean {
  return limitsOf(tunables, name)?.randomizeDelay ?? tunables.randomizeDelay;
}
