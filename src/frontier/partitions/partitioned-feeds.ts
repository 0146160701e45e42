/**
 * The feeds of a crawl over several partitions. A page's items go to the outbox of its partition, within its settle. The one
 * writer of a feed works on the outbox of partition 0, and first brings there what waits in the others:
 *
 * ```
 *   outbox of partition 2 ──read──► outbox of partition 0, with how far partition 2 is there ──► deleted in partition 2
 *                                         │
 *                                         └──► file, fsync, checkpoint (as in a crawl of one partition)
 * ```
 *
 * A writer that dies in between leaves the items in both, and the next one knows which of them partition 0 has.
 */
import type { FeedCheckpoint, FeedOpening, FeedWriter } from '../../feed-outbox.js';
import { feedTaken } from '../feed-claim.js';
import type { Feeds } from '../frontier.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';

/** Items moved in one step. */
const MOVED = 1_000;

export class PartitionedFeeds implements Feeds {
  readonly #parts: readonly RedisFrontier[];
  readonly #first: RedisFrontier;
  /** Writers of this client, by feed. */
  readonly #writers = new Map<string, FeedWriter>();

  constructor(parts: readonly RedisFrontier[]) {
    this.#parts = parts;
    this.#first = parts[0]!;
  }

  async open(writer: FeedWriter, options: FeedOpening): Promise<FeedCheckpoint | null> {
    const anew = options.anew === true && (await this.#waitingElsewhere(writer.feed)) === 0;
    const checkpoint = await this.#first.feeds.open(writer, { ...options, anew });
    this.#writers.set(writer.feed, writer);
    return checkpoint;
  }

  async read(feed: string, sequence: number, max: number): Promise<readonly string[]> {
    const items = await this.#first.feeds.read(feed, sequence, max);
    if (items.length >= max) return items;
    const writer = this.#writers.get(feed);
    if (writer === undefined) return [...items, ...(await this.#waitingItems(feed, max - items.length))];
    return (await this.#gather(writer, max - items.length))
      ? this.#first.feeds.read(feed, sequence, max)
      : items;
  }

  checkpoint(...checkpoint: Parameters<Feeds['checkpoint']>): Promise<void> {
    return this.#first.feeds.checkpoint(...checkpoint);
  }

  release(writer: FeedWriter, options?: { readonly exported?: boolean }): Promise<void> {
    return this.#first.feeds.release(writer, options);
  }

  async waiting(feed: string): Promise<number> {
    return (await this.#first.feeds.waiting(feed)) + (await this.#waitingElsewhere(feed));
  }

  async take(writer: FeedWriter, max: number): Promise<number> {
    let taken = await this.#first.feeds.take(writer, max);
    for (const { partition } of this.#parts.slice(1)) {
      if (taken < max) taken += await partition.takeItems(writer.feed, max - taken);
    }
    return taken;
  }

  async peek(max: number): Promise<string[]> {
    const items: string[] = [];
    for (const { feeds } of this.#parts) {
      if (items.length < max) items.push(...(await feeds.peek(max - items.length)));
    }
    return items;
  }

  async #waitingElsewhere(feed: string): Promise<number> {
    const heads = await Promise.all(this.#parts.slice(1).map(({ partition }) => partition.feedHeads(feed)));
    return heads.reduce((sum, { sequence, last }) => sum + Math.max(0, last - sequence), 0);
  }

  /** What waits in other partitions, for one who only looks. */
  async #waitingItems(feed: string, max: number): Promise<string[]> {
    const items: string[] = [];
    for (const { partition } of this.#parts.slice(1)) {
      const { sequence, last } = await partition.feedHeads(feed);
      const count = Math.min(max - items.length, last - sequence);
      if (count > 0) items.push(...(await partition.feedItems(feed, sequence, count)));
    }
    return items;
  }

  /** Move at least `wanted` waiting items to partition 0, if there are so many. @returns whether any was moved. */
  async #gather(writer: FeedWriter, wanted: number): Promise<boolean> {
    let moved = 0;
    for (const from of this.#parts.keys()) {
      if (from > 0 && moved < wanted) moved += await this.#moveFrom(from, writer, wanted - moved);
    }
    return moved > 0;
  }

  async #moveFrom(from: number, { feed, owner, path }: FeedWriter, wanted: number): Promise<number> {
    const { partition } = this.#parts[from]!;
    const { crawl, sequence: after, last } = await partition.feedHeads(feed);
    const count = Math.min(wanted, MOVED, last - after);
    if (count <= 0) return 0;
    const items = await partition.feedItems(feed, after, count);
    if (items.length === 0) return 0;
    const reached = await this.#first.partition.moveIn(feed, owner, { from, crawl, after }, items);
    if (reached < 0) throw feedTaken(path);
    await partition.moved(feed, reached);
    return items.length;
  }
}
