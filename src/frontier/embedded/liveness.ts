/** Which incarnations are alive: those that beat within the node timeout and whose process still runs. */
import type { IncarnationEntry } from './incarnation-entry.js';
import { isGone } from './processes.js';
import type { Transaction } from './transaction.js';

/** Whether an incarnation shows signs of life; declaring it dead is the business of recovery. */
export function isAlive(tx: Transaction, { isDead, beatAtMs, info }: IncarnationEntry): boolean {
  if (isDead || tx.nowMs - beatAtMs >= tx.meta().tunables.nodeTimeoutMs) return false;
  return !isGone(info.pid, info.processStart);
}

/** A node whose process runs beats so often within the node timeout; one that does not may be stopped or stuck. */
const BEATS = 3;

/**
 * Of one that `isAlive`, whether it was not killed a moment ago: its process is seen to run, or it was heard of within
 * `heardWithinMs`.
 */
export function isSurelyAlive(
  tx: Transaction,
  { beatAtMs, info }: IncarnationEntry,
  heardWithinMs: number,
): boolean {
  const seenWithinMs = info.processStart === null ? 0 : tx.meta().tunables.nodeTimeoutMs / BEATS;
  return tx.nowMs - beatAtMs < Math.max(heardWithinMs, seenWithinMs);
}

/** Heard of beside its heartbeats: whoever leaves a finished crawl looks for that where it sees no process. */
export function showLife(tx: Transaction, entry: IncarnationEntry): void {
  if (entry.info.processStart !== null) return;
  entry.beatAtMs = tx.nowMs;
  tx.keepIncarnation(entry);
}

/** All that are alive. */
export function liveNodes(tx: Transaction): IncarnationEntry[] {
  if (tx.peekState() === undefined) return [];
  return tx.incarnations().filter((entry) => isAlive(tx, entry));
}
