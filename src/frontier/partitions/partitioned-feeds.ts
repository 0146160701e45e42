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
import type { FeedWriter } from '../../feed-outbox.js';
import { feedTaken } from '../feed-claim.js';
import type { Feeds } from '../frontier.js';
import { int } from '../redis/connection/reply.js';
import { metaFields } from '../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';

/** Items moved in one step. */
const MOVED = 1_000;

export function partitionedFeeds(parts: readonly RedisFrontier[]): Feeds {
  const [first, ...others] = parts as readonly [RedisFrontier, ...RedisFrontier[]];
  /** Writers of this client, by feed. */
  const writers = new Map<string, FeedWriter>();

  const waitingIn = async (some: readonly RedisFrontier[], feed: string): Promise<number> => {
    const counts = await Promise.all(some.map(({ feeds }) => feeds.waiting(feed)));
    return counts.reduce((sum, count) => sum + Math.max(0, count), 0);
  };

  return {
    async open(writer, options) {
      const anew = options.anew === true && (await waitingIn(others, writer.feed)) === 0;
      const checkpoint = await first.feeds.open(writer, { ...options, anew });
      writers.set(writer.feed, writer);
      return checkpoint;
    },

    /** A writer moves what it reads in other partitions; one who only looks does not. */
    async read(feed, sequence, max) {
      const items = [...(await first.feeds.read(feed, sequence, max))];
      const writer = writers.get(feed);
      let moved = 0;
      for (const [n, part] of others.entries()) {
        const wanted = max - items.length - moved;
        if (wanted <= 0) break;
        if (writer !== undefined) moved += await moveItems(first, part, n + 1, writer, wanted);
        else items.push(...(await part.feeds.read(feed, (await part.feeds.heads(feed)).sequence, wanted)));
      }
      return moved > 0 ? first.feeds.read(feed, sequence, max) : items;
    },

    checkpoint: (...checkpoint) => first.feeds.checkpoint(...checkpoint),
    release: (...release) => first.feeds.release(...release),
    waiting: (feed) => waitingIn(parts, feed),

    async take(writer, max) {
      let taken = await first.feeds.take(writer, max);
      for (const { partition } of others) {
        const args = { feed: writer.feed, most: max - taken };
        if (taken < max) taken += int(await partition.crawl.call('feed_take', args));
      }
      return taken;
    },

    async peek(max) {
      const items: string[] = [];
      for (const { feeds } of parts) {
        if (items.length < max) items.push(...(await feeds.peek(max - items.length)));
      }
      return items;
    },
  };
}

/** Move waiting items of a partition to partition 0. @param index of the partition. @returns how many. */
async function moveItems(
  first: RedisFrontier,
  { feeds, partition }: RedisFrontier,
  index: number,
  { feed, owner, path }: FeedWriter,
  wanted: number,
): Promise<number> {
  const { sequence: after, last } = await feeds.heads(feed);
  const [crawl] = await metaFields(partition, 'crawl');
  if (crawl == null || last <= after) return 0;
  const items = await feeds.read(feed, after, Math.min(wanted, MOVED));
  const args = { feed, owner, from: String(index), crawl, after, items };
  const reached = int(await first.partition.crawl.call('feed_move_in', args));
  if (reached < 0) throw feedTaken(path);
  const written = { feed, sequence: Math.min(reached, last), release: true };
  await partition.crawl.call('feed_checkpoint', written);
  return items.length;
}
