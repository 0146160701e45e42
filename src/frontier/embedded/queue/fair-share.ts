/**
 * A site whose concurrency is smaller than one node's would stay with the first node, which leases again right after each
 * settle. So a node that gets nothing while requests wait for the concurrency of their domain is recorded as hungry. Another
 * node that holds more than its share of the leases then gets nothing for a moment. Requests that wait for a delay need
 * none of this: any node may be the first to ask when the delay has passed.
 */
import type { OpenCrawl } from '../crawl/open-crawl.js';
import type { NodeRow } from '../nodes/node-row.js';

/** How long a node counts as hungry after it got nothing. */
const HUNGRY_MS = 300;
/** When a node that stood back asks again. */
export const STAND_BACK_MS = 30;
/** A hungry node polls every 25 ms × number of nodes, so the total rate stays constant. */
const HUNGRY_WAIT_MS = 25;

/** Whether this node must take nothing now, because another is hungry and this one holds more than its share. */
export function standsBack({ tally, nowMs }: OpenCrawl, holder: NodeRow): boolean {
  if (tally.hungry === 0 || tally.hungry === holder.number) return false;
  if (nowMs - tally.hungry_at > HUNGRY_MS) return false;
  return holder.leased * tally.alive > tally.leased;
}

/** Record whether this node got nothing although a domain has more to give than its concurrency allows. */
export function noteHunger(crawl: OpenCrawl, holder: NodeRow, gotSome: boolean): void {
  const { tally, nowMs } = crawl;
  if (!gotSome && tally.pending > 0 && hasFullDomain(crawl)) {
    tally.hungry = holder.number;
    tally.hungry_at = nowMs;
  } else if (tally.hungry === holder.number) tally.hungry = 0;
}

/** Full domains are found by the leases that fill them: those are few, domains may be many. */
function hasFullDomain({ sql, space }: OpenCrawl): boolean {
  const full = sql.get`
    SELECT 1 FROM request INDEXED BY request_leased JOIN domain ON domain.space = request.space AND name = request.domain
    WHERE request.space = ${space} AND request.state = 'leased' AND domain.state = 'full' LIMIT 1`;
  return full !== undefined;
}

/** When a hungry node should ask again; null for a node that is not. */
export function hungryWaitMs({ tally }: OpenCrawl, holder: NodeRow): number | null {
  return tally.hungry === holder.number ? HUNGRY_WAIT_MS * tally.alive : null;
}
