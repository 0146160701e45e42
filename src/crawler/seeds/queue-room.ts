/**
 * Limit pushes of seeds to the room in the queue. Seeds are never dropped: while the queue of a crawl is at
 * SCHEDULER_QUEUE_LIMIT, or the crawl at SCHEDULER_MEMORY_LIMIT, `seed` waits until nodes have processed requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frontier, Snapshot } from '../../frontier/frontier.js';
import { memoryAtLimit } from '../../frontier/types/reports.js';

/** How often a full queue is checked. */
const CHECK_INTERVAL_MS = 250;

export interface QueueRoom {
  readonly frontier: Pick<Frontier, 'push' | 'snapshot'>;
  /** SCHEDULER_QUEUE_LIMIT of this command. It applies until a node has joined, whose limit then applies. */
  readonly limit: number;
  /** Called while the queue is full, and with null when the wait is over. */
  readonly onWait: (full: FullQueue | null) => void;
  /** Aborted to end the wait. Requests that are not yet pushed are discarded. */
  readonly stop: AbortSignal;
}

/** The state of a full queue. */
export interface FullQueue {
  readonly waiting: number;
  readonly limit: number;
  readonly nodes: number;
  /** What the crawl takes, where that is at its limit; else null. */
  readonly memory: { readonly bytes: number; readonly limit: number } | null;
}

/** A `push` like that of the frontier. It pushes parts that fit into the queue, one after the other. */
export function pushWithinRoom({ frontier, limit, onWait, stop }: QueueRoom): Pick<Frontier, 'push'> {
  let room = 0;
  let previousPush: Promise<unknown> = Promise.resolve();

  const waitForRoom = async () => {
    for (let waited = false; ; waited = true) {
      const full = fullness(await frontier.snapshot(), limit);
      const inQueue = full.limit === 0 ? Number.POSITIVE_INFINITY : full.limit - full.waiting;
      room = full.memory === null ? inQueue : 0;
      if (room > 0 || stop.aborted) {
        if (waited) onWait(null);
        return;
      }
      onWait(full);
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stop }).catch(() => {});
    }
  };

  const pushAll: Frontier['push'] = async (requests, kind) => {
    const total = { accepted: 0, duplicates: 0 };
    for (let at = 0; at < requests.length; ) {
      if (room <= 0) await waitForRoom();
      if (stop.aborted) break;
      const part = requests.slice(at, at + Math.min(room, requests.length));
      const { accepted, duplicates } = await frontier.push(part, kind);
      total.accepted += accepted;
      total.duplicates += duplicates;
      room -= part.length;
      at += part.length;
    }
    return total;
  };

  return {
    push: (requests, kind) => {
      // Without a limit, batches are pushed concurrently.
      if (room === Number.POSITIVE_INFINITY) return frontier.push(requests, kind);
      const pushed = previousPush.then(() => pushAll(requests, kind));
      previousPush = pushed.catch(() => {});
      return pushed;
    },
  };
}

function fullness(snapshot: Snapshot, limit: number): FullQueue {
  const { pending, delayed, queueLimit, nodes } = snapshot;
  return {
    ...{ waiting: pending + delayed, limit: queueLimit ?? limit, nodes: nodes.length },
    memory: memoryAtLimit(snapshot),
  };
}
