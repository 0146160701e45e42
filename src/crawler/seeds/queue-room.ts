/**
 * Seeds are never dropped: while the queue of a crawl is at SCHEDULER_QUEUE_LIMIT, `seed` waits for its nodes to make
 * room, and takes no more than there is of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Frontier, Snapshot } from '../../frontier/frontier.js';

/** How often a full queue is looked at. */
const LOOK_MS = 250;

export interface QueueRoom {
  readonly frontier: Pick<Frontier, 'push' | 'snapshot'>;
  /** SCHEDULER_QUEUE_LIMIT of this command: until a node has come, whose counts then. */
  readonly limit: number;
  /** Told when the wait begins, and when it is over. */
  readonly onWait: (full: FullQueue | null) => void;
  /** Ends the wait: what is not pushed by then is left. */
  readonly stop: AbortSignal;
}

/** A queue that takes no more. */
export interface FullQueue {
  readonly waiting: number;
  readonly limit: number;
  readonly nodes: number;
}

/** Pushes as `frontier.push` does, in parts that fit the queue, one call after the other. */
export function pushWithinRoom({ frontier, limit, onWait, stop }: QueueRoom): Pick<Frontier, 'push'> {
  let room = 0;
  let last: Promise<unknown> = Promise.resolve();

  const makeRoom = async () => {
    for (let waited = false; ; waited = true) {
      const full = fullness(await frontier.snapshot(), limit);
      room = full.limit === 0 ? Number.POSITIVE_INFINITY : full.limit - full.waiting;
      if (room > 0 || stop.aborted) {
        if (waited) onWait(null);
        return;
      }
      onWait(full);
      await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
    }
  };

  const pushAll: Frontier['push'] = async (requests, kind) => {
    const total = { accepted: 0, duplicates: 0 };
    for (let at = 0; at < requests.length; ) {
      if (room <= 0) await makeRoom();
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
      // Without a limit batches go side by side.
      if (room === Number.POSITIVE_INFINITY) return frontier.push(requests, kind);
      const pushed = last.then(() => pushAll(requests, kind));
      last = pushed.catch(() => {});
      return pushed;
    },
  };
}

function fullness({ pending, delayed, queueLimit, nodes }: Snapshot, limit: number): FullQueue {
  return { waiting: pending + delayed, limit: queueLimit ?? limit, nodes: nodes.length };
}
