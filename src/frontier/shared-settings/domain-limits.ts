/** The limits of single domains (DOWNLOAD_SLOTS), from their stored text. */
import type { DomainLimits, Tunables } from '../frontier.js';
import { parseTunable } from './tunable-text.js';

/** What a domain has of its own; undefined for nothing. @param slots the text of `Tunables.slots`. */
export function limitsOf(slots: string, domain: string): DomainLimits | undefined {
  if (slots === '') return undefined;
  const all = parseTunable<NonNullable<Tunables['slots']>>(slots);
  return all !== null && Object.hasOwn(all, domain) ? all[domain] : undefined;
}

/** The smallest concurrency of any domain. @param slots as for `limitsOf`. @param concurrency that of a domain with none of its own */
export function leastConcurrency({ slots, concurrency }: { slots: string; concurrency: number }): number {
  const all = Object.values(parseTunable<NonNullable<Tunables['slots']>>(slots) ?? {});
  return Math.min(concurrency, ...all.map((limits) => limits.concurrency ?? concurrency));
}
