/** What the settings give single domains (DOWNLOAD_SLOTS). */
import type { DomainLimits, Tunables } from '../frontier.js';

/** What a domain has of its own; undefined for nothing. */
export function limitsOf({ slots }: Tunables, domain: string): DomainLimits | undefined {
  return slots !== null && Object.hasOwn(slots, domain) ? slots[domain] : undefined;
}

/** The smallest concurrency of any domain. */
export function leastConcurrency({ slots, concurrencyPerDomain }: Tunables): number {
  const own = Object.values(slots ?? {}).map(({ concurrency }) => concurrency ?? concurrencyPerDomain);
  return Math.min(concurrencyPerDomain, ...own);
}
