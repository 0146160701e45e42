/** Which node asks the hooks for an idle crawl, and whether they had nothing to add. */
import { openWork } from '../base/crawl-row.js';
import type { Transaction } from '../base/transaction.js';
import type { JoinedNode } from '../nodes/node-row.js';

/** Whether the hooks were asked, and gave nothing: no page has begun since. True where there are none. */
export function wasAsked({ crawl, tally }: Transaction): boolean {
  return crawl.has_idle === 0 || crawl.run?.asked?.leased === tally.run_leased;
}

/** The node that asks them now; null when none does. */
export function asker(tx: Transaction): number | null {
  const node = tx.crawl.run?.asking?.node ?? null;
  return node !== null && tx.nodes.findAlive(node) !== null ? node : null;
}

/** Make the node the one that asks, unless another live one does or it is not the time. @returns whether it is. */
export function claimIdle(
  tx: Transaction,
  { number: node }: JoinedNode,
  againAfterMs: number | null,
): boolean {
  const { crawl, tally, nowMs } = tx;
  tx.nodes.requireAlive(node);
  const owner = asker(tx);
  if (crawl.run === null || openWork(tally) > 0 || (owner !== null && owner !== node)) return false;
  const isTime = againAfterMs !== null && nowMs - (crawl.run.asked?.atMs ?? 0) >= againAfterMs;
  if (wasAsked(tx) && !isTime) return false;
  crawl.run = { ...crawl.run, asking: { node, leased: tally.run_leased } };
  return true;
}

/** The hooks were asked. A page that has begun since the claim may have changed what they would say. */
export function endIdle(tx: Transaction, { number: node }: JoinedNode): void {
  const { crawl, nowMs } = tx;
  tx.nodes.requireAlive(node);
  const { run } = crawl;
  if (run === null || run.asking === null || asker(tx) !== node) return;
  crawl.run = { ...run, asking: null, asked: { atMs: nowMs, leased: run.asking.leased } };
}
