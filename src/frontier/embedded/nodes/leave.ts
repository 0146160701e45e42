/** The leave verb: deregister; the last node ends the run, and may clear the crawl. */
import type { Left, Silence } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { clearFinished } from '../crawl/clear.js';
import { forgetPages } from '../domains/page-quota.js';
import { leasesOf, returnToQueue } from '../leases/lease-records.js';
import { crawlState } from '../requests/completion.js';
import { addEvent } from '../telemetry/events.js';
import { incarnationName, type JoinedNode, type NodeRow } from './node-row.js';
import { declareDead } from './recover.js';

/** Leases still held are returned uncounted. With `heardWithinMs` the node stays if all others may have been killed. */
export function leave(
  tx: Transaction,
  { number, options }: JoinedNode,
  reason: string,
  how: { readonly isRejoin: boolean; readonly heardWithinMs?: number | undefined },
): Left {
  const { crawl } = tx;
  const { persist } = options.shape;
  const isFinished = (): boolean =>
    crawlState(tx, crawl.has_start === 1, options.feeds).finished && tx.tally.lost === 0;
  const node = tx.nodes.find(number);
  if (how.heardWithinMs !== undefined && !persist && node?.is_dead === 0) {
    const silence = isFinished() ? silentBeside(tx, node, how.heardWithinMs) : null;
    if (silence !== null) return { last: false, cleared: false, awaits: silence };
  }
  if (node !== null) {
    for (const held of leasesOf(tx, number)) returnToQueue(tx, held);
    if (node.is_dead === 0 && !how.isRejoin) addEvent(tx, { kind: 'node_left', node: node.id, reason });
    tx.nodes.drop(number);
  }
  if (how.isRejoin) return { last: false, cleared: false };
  declareDead(tx);
  if (tx.nodes.count > 0) return { last: false, cleared: false };
  if (crawl.run?.closed === null) {
    const closed = { reason: crawl.run.closing?.reason ?? reason, atMs: tx.wallMs };
    crawl.run = { ...crawl.run, closed };
    addEvent(tx, { kind: 'run_ended', reason: closed.reason });
  }
  const isOver = crawl.run?.closed?.reason === 'finished' && isFinished();
  if (isOver) forgetPages(tx);
  if (persist || !isOver) return { last: true, cleared: false };
  clearFinished(tx);
  return { last: true, cleared: true };
}

/** The other nodes, if there are some and none is known to be alive; else null. The node that asks is heard of with this. */
function silentBeside(tx: Transaction, self: NodeRow, heardWithinMs: number): Silence | null {
  tx.nodes.showLife(self);
  const others = tx.nodes.live().filter(({ number }) => number !== self.number);
  if (others.length === 0 || others.some((node) => isSurelyAlive(tx, node, heardWithinMs))) return null;
  const lastBeat = Math.max(...others.map(({ beat_at }) => beat_at));
  return {
    incarnations: others.map(({ id, number }) => incarnationName(id, number)),
    forMs: lastBeat + tx.crawl.tunables.nodeTimeoutMs - tx.nowMs,
  };
}

/** Heartbeats per node timeout. A node that sends fewer may be stopped or stuck. */
const BEATS = 3;

/**
 * Whether a live node was heard from recently enough to rule out a recent crash: within `heardWithinMs`, or within the
 * interval of heartbeats where its process can be checked.
 */
function isSurelyAlive(
  { nowMs, crawl }: Transaction,
  { beat_at, process_start }: NodeRow,
  heardWithinMs: number,
): boolean {
  const seenWithinMs = process_start === null ? 0 : crawl.tunables.nodeTimeoutMs / BEATS;
  return nowMs - beat_at < Math.max(heardWithinMs, seenWithinMs);
}
