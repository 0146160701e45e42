/**
 * REDIS_WAIT_REPLICAS: a write counts when so many replicas have it. `WAIT` travels with the call, so it costs the time
 * that replication takes and no further round trip. A failover to one of these replicas then loses none of these writes.
 */
import { type Client, callFunction } from './client.js';
import type { Reply } from './reply.js';

/** Verbs that accept requests or commit pages; what other verbs write is made again when it is lost. */
const awaited: ReadonlySet<string> = new Set([
  ...[
    'push',
    'intake',
    'settle',
    'settle_and_lease',
    'leave',
    'feed_checkpoint',
    'retry_failed',
    'restore_end',
  ],
]);

/** Less than the time limit of a command, so that the replicas' lag is known for what it is. */
const WAIT_MS = 1_000;

export class AwaitedReplicas {
  readonly #replicas: number;

  /** @param replicas 0 waits for none */
  constructor(replicas: number) {
    this.#replicas = replicas;
  }

  /** Whether the calls of a verb wait for replicas. */
  isFor(verb: string): boolean {
    return this.#replicas > 0 && awaited.has(verb);
  }

  /**
   * Call a function, and wait for the replicas. In a Cluster both commands go to the server of the keys.
   * @throws TooFewReplicas when they do not have the write in time. The write is there nevertheless: the caller repeats
   * the call, which has no second effect.
   */
  async call(client: Client, name: string, keys: readonly string[], packed: Buffer): Promise<Reply> {
    const pipeline = client.pipeline();
    callFunction(pipeline, name, keys, packed);
    pipeline.wait(this.#replicas, WAIT_MS);
    const [called, waited] = (await pipeline.exec()) ?? [];
    const error = called?.[0] ?? waited?.[0];
    if (error) throw error;
    const confirmed = Number(waited?.[1]);
    if (confirmed < this.#replicas) throw new TooFewReplicas(confirmed, this.#replicas);
    return called?.[1] as Reply;
  }
}

/** A later try may succeed. Its text is shown like a reply of the server. */
class TooFewReplicas extends Error {
  constructor(confirmed: number, replicas: number) {
    super(`NOREPLICAS ${confirmed} of ${replicas} replicas had the last writes within ${WAIT_MS} ms`);
    this.name = 'ReplyError';
  }
}
