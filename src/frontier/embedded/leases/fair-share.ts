/**
 * Fairness between nodes, see docs/internals/leasing.md. A site whose concurrency is smaller than one node's would stay with
 * the first node, which leases again right after each settle. So a node that gets nothing while a domain may be full is
 * recorded as hungry. Another node that holds more than its share of the leases then stands back: it gets nothing for a moment.
 */
import { leastConcurrency } from '../../shared-settings/domain-limits.js';
import { HUNGRY_MS, HUNGRY_POLL_MS } from '../../types/limits.js';
import type { OpenCrawl } from '../base/open-crawl.js';
import type { Transaction } from '../base/transaction.js';
import type { NodeRow } from '../nodes/node-row.js';

/** Whether this node must take nothing now, because another is hungry and this one holds more than its share. */
export function standsBack({ tally, nodes, nowMs }: Transaction, holder: NodeRow): boolean {
  if (tally.hungry === 0 || tally.hungry === holder.number) return false;
  if (nowMs - tally.hungry_at > Math.max(HUNGRY_MS, 2 * HUNGRY_POLL_MS * nodes.count)) return false;
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

/**
 * Whether pending requests may be kept back by the concurrency of their domain. An estimate in O(1), as idle nodes ask it all
 * the time: no domain is full while there are fewer leases than its concurrency allows. Under DOWNLOAD_DELAY requests wait
 * for the delay instead, and any node may be the first to ask when it has passed.
 */
function mayBeFull({ crawl, tally }: OpenCrawl): boolean {
  return (
    crawl.tunables.delayMs === 0 && tally.pending > 0 && tally.leased >= leastConcurrency(crawl.tunables)
  );
}

/** When a hungry node should ask again; null for a node that is not. */
export function hungryWaitMs({ tally, nodes }: Transaction, holder: NodeRow): number | null {
  return tally.hungry === holder.number ? HUNGRY_POLL_MS * nodes.count : null;
}
