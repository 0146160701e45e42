/**
 * A site whose concurrency is smaller than one node's would stay with the node that came first, since its next lease
 * follows its settle at once. So a node that got nothing is noted as hungry, and one that holds more than its share
 * of the leases stands back for a moment. With a delay the clock shares the site out by itself.
 */
import type { NodeRow } from '../nodes/node-row.js';
import type { OpenCrawl } from '../open-crawl.js';

/** For how long hunger counts. */
const HUNGRY_MS = 300;
/** When a node that stood back asks again. */
export const STAND_BACK_MS = 30;
/** A hungry node asks again soon, but the more nodes there are the less often each. */
const HUNGRY_WAIT_MS = 25;

/** Whether this node leaves the moment to another that got nothing. */
export function standsBack({ tally, nowMs }: OpenCrawl, holder: NodeRow): boolean {
  if (tally.hungry === 0 || tally.hungry === holder.number) return false;
  if (nowMs - tally.hungry_at > HUNGRY_MS) return false;
  return holder.leased * tally.alive > tally.leased;
}

/** Remember whether this node went away with nothing although requests are pending. */
export function noteHunger({ tally, crawl, nowMs }: OpenCrawl, holder: NodeRow, gotSome: boolean): void {
  if (gotSome || tally.pending === 0 || crawl.delay_ms > 0) {
    if (tally.hungry === holder.number) tally.hungry = 0;
    return;
  }
  tally.hungry = holder.number;
  tally.hungry_at = nowMs;
}

/** When a hungry node should ask again; null for a node that is not. */
export function hungryWaitMs({ tally }: OpenCrawl, holder: NodeRow): number | null {
  return tally.hungry === holder.number ? HUNGRY_WAIT_MS * tally.alive : null;
}
