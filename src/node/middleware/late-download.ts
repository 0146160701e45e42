/** The begin of a download that is later than its domain's delay allows, since a middleware took its time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Flight } from '../page/leased-pages.js';
import type { PageDeps } from '../page/page-work.js';

/** A longer wait than its delays explain: the domain is left alone, so the request goes back to the queue. */
const LONGEST_DELAYS = 4;
const LONGEST_MS = 10_000;

/**
 * Wait until the download of a page may begin. Where it is late, the domain's clock gives it another instant: giving the
 * lease back instead would bring the request back to the same slow middleware, for ever.
 * @returns false when the download must not begin: the page is over, or its lease was lost or should be released. Rejects
 *   when the page ends meanwhile.
 */
export async function awaitOwnTurn(
  flight: Flight,
  { frontier, outage }: Pick<PageDeps, 'frontier' | 'outage'>,
): Promise<boolean> {
  const { lease } = flight;
  if (flight.over) return false;
  while (performance.now() > flight.beginByMs) {
    const askedAt = performance.now();
    const waitMs = await outage.through('defer', flight.signal, () => frontier.defer(lease));
    if (waitMs === null || waitMs > LONGEST_DELAYS * lease.delayMs + LONGEST_MS) return false;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: flight.signal });
    flight.dueAt = askedAt + waitMs;
  }
  return true;
}
