/** The ids of requests that must be waiting, and whether a walk has met them. */

/** A Map holds 2^24 entries at most. */
const SHARDS = 256;

export class WaitingIds {
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<string, boolean>());

  /** The request has a record, and is neither leased nor failed. */
  expect(id: Buffer): void {
    const shard = this.#shards[id[0] ?? 0]!;
    const key = id.toString('latin1');
    if (!shard.has(key)) shard.set(key, false);
  }

  /** A walk has met it in the queue, or where else requests wait. @returns whether it had before */
  meet(id: Buffer): boolean {
    const shard = this.#shards[id[0] ?? 0]!;
    const key = id.toString('latin1');
    const wasMet = shard.get(key) === true;
    shard.set(key, true);
    return wasMet;
  }

  /** Those that were expected and not met. */
  *unmet(): Generator<Buffer> {
    for (const shard of this.#shards) {
      for (const [key, isMet] of shard) if (!isMet) yield Buffer.from(key, 'latin1');
    }
  }
}
