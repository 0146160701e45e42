/**
 * A site whose concurrency is smaller than one node's would stay with the first node, which leases again right after each
 * settle. So a node that gets nothing while a domain may be full is recorded as hungry. Another node that holds more than its
 * share of the leases then gets nothing for a moment. Requests that wait for a delay need none of this: any node may be the
 * first to ask when the delay has passed. The Redis engine decides by the same rule (`redis/lua/leases/leasing.lua`).
 */
import { leastConcurrency } from '../../shared-settings/domain-limits.js';
import type { OpenCrawl } from '../crawl/open-crawl.js';
import type { Transaction } from '../crawl/transaction.js';
import type { NodeRow } from '../nodes/node-row.js';

/** How long a node counts as hungry after it got nothing. */
const HUNGRY_MS = 300;
/** When a node that stood back asks again. */
export const STAND_BACK_MS = 30;
/** A hungry node polls every 25 ms × number of nodes, so the total rate stays constant. */
const HUNGRY_WAIT_MS = 25;

/** Whether this node must take nothing now, because another is hungry and this one holds more than its share. */
export function standsBack({ tally, nodes, nowMs }: Transaction, holder: NodeRow): boolean {
  if (tally.hungry === 0 || tally.hungry === holder.number) return false;
  if (nowMs - tally.hungry_at > HUNGRY_MS) return false;
  return holder.leased * nodes.count > tally.leased;
}

/** Record whether this node got nothing although requests may wait for the concurrency of their domain. */
export function noteHunger(crawl: OpenCrawl, holder: NodeRow, gotSome: boolean): void {
  const { tally, nowMs } = crawl;
  if (!gotSome && mayBeFull(crawl)) {
    tally.hungry = holder.number;
    tally.hungry_at = nowMs;
  } else if (tally.hungry === holder.number) tally.hungry = 0;
}

/** An estimate in O(1), as idle nodes ask it all the time: with fewer leases than any concurrency allows no domain is full. */
function mayBeFull({ crawl, tally }: OpenCrawl): boolean {
  return (
    crawl.tunables.delayMs === 0 && tally.pending > 0 && tally.leased >= leastConcurrency(crawl.tunables)
  );
}

/** When a hungry node should ask again; null for a node that is not. */
export function hungryWaitMs({ tally, nodes }: Transaction, holder: NodeRow): number | null {
  return tally.hungry === holder.number ? HUNGRY_WAIT_MS * nodes.count : null;
}
