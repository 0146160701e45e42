/** Which nodes are alive: those with a heartbeat within the node timeout and a process that still runs. */
import type { Transaction } from '../crawl/transaction.js';
import { isGone } from '../file/processes.js';
import type { NodeRow } from './node-row.js';

/** Whether a node shows signs of life; declaring it dead is the business of recovery. */
export function isAlive(
  { nowMs, crawl }: Transaction,
  { is_dead, beat_at, pid, process_start }: NodeRow,
): boolean {
  if (is_dead === 1 || nowMs - beat_at >= crawl.tunables.nodeTimeoutMs) return false;
  return !isGone(pid, process_start);
}

/** Heartbeats per node timeout. A node that sends fewer may be stopped or stuck. */
const BEATS = 3;

/**
 * Whether a live node was heard from recently enough to rule out a recent crash: within `heardWithinMs`, or within the
 * interval of heartbeats where its process can be checked.
 */
export function isSurelyAlive(
  { nowMs, crawl }: Transaction,
  { beat_at, process_start }: NodeRow,
  heardWithinMs: number,
): boolean {
  const seenWithinMs = process_start === null ? 0 : crawl.tunables.nodeTimeoutMs / BEATS;
  return nowMs - beat_at < Math.max(heardWithinMs, seenWithinMs);
}

/** Updates the heartbeat time of a node whose process cannot be checked. */
export function showLife({ nowMs }: Transaction, node: NodeRow): void {
  if (node.process_start === null) node.beat_at = nowMs;
}

/** All that are alive. */
export function liveNodes(tx: Transaction): NodeRow[] {
  return tx.nodes.all().filter((node) => isAlive(tx, node));
}
