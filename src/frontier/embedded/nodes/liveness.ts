/** Which nodes are alive: those that beat within the node timeout and whose process still runs. */

import { isGone } from '../processes.js';
import type { Transaction } from '../transaction.js';
import type { NodeRow } from './node-row.js';

/** Whether a node shows signs of life; declaring it dead is the business of recovery. */
export function isAlive(
  { nowMs, crawl }: Transaction,
  { is_dead, beat_at, pid, process_start }: NodeRow,
): boolean {
  if (is_dead === 1 || nowMs - beat_at >= crawl.node_timeout_ms) return false;
  return !isGone(pid, process_start);
}

/** A node whose process runs beats so often within the node timeout; one that does not may be stopped or stuck. */
const BEATS = 3;

/**
 * Of one that `isAlive`, whether it was not killed a moment ago: its process is seen to run, or it was heard of within
 * `heardWithinMs`.
 */
export function isSurelyAlive(
  { nowMs, crawl }: Transaction,
  { beat_at, process_start }: NodeRow,
  heardWithinMs: number,
): boolean {
  const seenWithinMs = process_start === null ? 0 : crawl.node_timeout_ms / BEATS;
  return nowMs - beat_at < Math.max(heardWithinMs, seenWithinMs);
}

/** Heard of beside its heartbeats: whoever leaves a finished crawl looks for that where it sees no process. */
export function showLife({ nowMs }: Transaction, node: NodeRow): void {
  if (node.process_start === null) node.beat_at = nowMs;
}

/** All that are alive. */
export function liveNodes(tx: Transaction): NodeRow[] {
  return tx.nodes.all().filter((node) => isAlive(tx, node));
}
