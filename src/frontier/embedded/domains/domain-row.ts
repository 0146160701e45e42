/** The row of a domain, and the pure part of politeness: its delay timer and its state. */
import type { AutoThrottle } from '../../frontier.js';
import { limitsOf } from '../../shared-settings/domain-limits.js';
import { parseTunable } from '../../shared-settings/tunable-text.js';
import type { CrawlRow } from '../crawl/crawl-row.js';

/** Columns are explained in `schema.sql`. */
export interface DomainRow {
  readonly space: number;
  readonly name: string;
  state: 'ready' | 'waiting' | 'full' | 'idle';
  until: number | null;
  head_rank: number | null;
  head_arrival: number | null;
  active: number;
  next_at: number;
  blocked_until: number;
  last_at: number;
  delay_setting: number | null;
  delay_robots: number;
  delay_auto: number;
  pages: number;
}

/** The furthest a stored instant may be ahead: a jump of the system clock must block nothing for longer. */
export const FURTHEST_MS = 24 * 60 * 60 * 1000;

export function newDomain(space: number, name: string): DomainRow {
  return {
    ...{
      space,
      name,
      state: 'idle',
      until: null,
      head_rank: null,
      head_arrival: null,
      active: 0,
      next_at: 0,
    },
    ...{ blocked_until: 0, last_at: 0, delay_setting: null, delay_robots: 0, delay_auto: 0, pages: 0 },
  };
}

/** The delay between two leases of a domain: the longest that any source asks for. */
export function delayOf(domain: DomainRow, crawl: CrawlRow): number {
  return Math.max(settingsDelayOf(domain, crawl), domain.delay_robots, autoDelayOf(domain, crawl));
}

/** The delay that the settings give a domain. `delay_setting` comes from `throttle`. */
export function settingsDelayOf(domain: DomainRow, { delay_ms, slots }: CrawlRow): number {
  return domain.delay_setting ?? limitsOf(slots, domain.name)?.delayMs ?? delay_ms;
}

/** The delay that AutoThrottle asks for; 0 while it is off. */
export function autoDelayOf({ delay_auto }: DomainRow, { autothrottle }: CrawlRow): number {
  const auto = parseTunable<AutoThrottle>(autothrottle);
  if (auto === null) return 0;
  return delay_auto > 0 ? delay_auto : auto.startDelayMs;
}

/** How many leases a domain may have at the same time. */
export function concurrencyOf({ name }: DomainRow, { slots, concurrency }: CrawlRow): number {
  return limitsOf(slots, name)?.concurrency ?? concurrency;
}

/** From when on the domain may be leased from. */
export function dueAtOf(domain: DomainRow, nowMs: number): number {
  return Math.min(Math.max(domain.next_at, domain.blocked_until), nowMs + FURTHEST_MS);
}

/** After the system clock was set back, instants stored before may be too far ahead. */
function limitInstants(domain: DomainRow, nowMs: number): void {
  domain.next_at = Math.min(domain.next_at, nowMs + FURTHEST_MS);
  domain.blocked_until = Math.min(domain.blocked_until, nowMs + FURTHEST_MS);
}

/** Set `next_at` for a download that begins at `beginAtMs`. A randomized delay is never shorter than the delay itself. */
export function startDelayTimer(domain: DomainRow, crawl: CrawlRow, beginAtMs: number): void {
  domain.last_at = beginAtMs;
  const delayMs = delayOf(domain, crawl);
  if (delayMs === 0) return;
  const isRandomized = limitsOf(crawl.slots, domain.name)?.randomizeDelay ?? crawl.randomize_delay === 1;
  domain.next_at = Math.ceil(beginAtMs + delayMs * (isRandomized ? 1 + Math.random() / 2 : 1));
}

/** Update `state` and `until`. @returns whether the row can be deleted. */
export function updateState(domain: DomainRow, crawl: CrawlRow, nowMs: number): boolean {
  limitInstants(domain, nowMs);
  const dueAtMs = dueAtOf(domain, nowMs);
  const isTimerRunning = dueAtMs > nowMs;
  if (domain.head_rank === null) domain.state = 'idle';
  else if (domain.active >= concurrencyOf(domain, crawl)) domain.state = 'full';
  else domain.state = isTimerRunning ? 'waiting' : 'ready';
  const isTimed = domain.state === 'waiting' || domain.state === 'idle';
  domain.until = isTimed && isTimerRunning ? dueAtMs : null;
  return domain.state === 'idle' && !isTimerRunning && isForgettable(domain);
}

/** A domain with a delay of its own is kept, since its row is the only record of that delay. */
function isForgettable({ active, delay_setting, delay_robots, delay_auto }: DomainRow): boolean {
  return active === 0 && delay_setting === null && delay_robots === 0 && delay_auto === 0;
}
