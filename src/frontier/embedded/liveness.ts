/** Which incarnations are alive: those that beat within the node timeout and whose process still runs. */
import type { IncarnationEntry } from './incarnation-entry.js';
import { isGone } from './processes.js';
import type { Transaction } from './transaction.js';

/** Whether an incarnation shows signs of life; declaring it dead is the business of recovery. */
export function isAlive(tx: Transaction, { isDead, beatAtMs, info }: IncarnationEntry): boolean {
  if (isDead || tx.nowMs - beatAtMs >= tx.meta().tunables.nodeTimeoutMs) return false;
  return !isGone(info.pid, info.processStart);
}

/** All that are alive. */
export function liveNodes(tx: Transaction): IncarnationEntry[] {
  if (tx.peekState() === undefined) return [];
  return tx.incarnations().filter((entry) => isAlive(tx, entry));
}
