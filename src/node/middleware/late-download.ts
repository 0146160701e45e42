/** Delays a download that would begin later than the delay of its domain allows, because a middleware was slow. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Flight } from '../page/flight.js';
import type { PageDeps } from '../page/page-work.js';

/** A longer wait than the delay explains: the domain rests for another reason, so the request is returned to the queue. */
const LONGEST_DELAYS = 4;
const LONGEST_MS = 10_000;

/**
 * Wait until the download of a page may begin. When it is late, the store gives it another instant of the domain. Returning
 * the lease instead would bring the request to the same slow middleware again, for ever.
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
