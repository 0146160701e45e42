/** Feeds in Redis: the outbox of committed items, and the checkpoint of the file each is written to. */
import { CrawlnodeError } from '../../errors.js';
import type { FeedCheckpoint, FeedOpening, FeedWriter } from '../../feed.js';
import { feedHeld, feedRolledBack, feedTaken, isRunning, otherFeedFormat } from '../feed-claim.js';
import type { Feeds } from '../frontier.js';
import { int, named, text } from './connection/reply.js';
import type { CrawlAccess } from './crawl-access.js';
import { internalKey } from './keys.js';

interface CurrentWriter {
  readonly host: string;
  readonly pid: number;
  readonly owner: string;
}

/** A feed as stored in the HASH `:~feeds`: its writer (none without `owner`) and its checkpoint, if any. */
interface FeedRecord extends Partial<FeedCheckpoint> {
  readonly host: string;
  readonly path: string;
  readonly pid: number;
  readonly owner?: string;
  readonly format?: string;
  readonly exporting?: boolean;
}

/** The feeds of the HASH `:~feeds`, each with the sequence of its last item. */
export function readFeeds(fields: Readonly<Record<string, string>>) {
  return Object.entries(fields)
    .filter(([field]) => !field.endsWith(':tail'))
    .map(([feed, text]) => ({
      feed,
      record: JSON.parse(text) as FeedRecord,
      last: Number(fields[`${feed}:tail`] ?? 0),
    }));
}

/** The stored fields of a feed: its record, and the sequence of its last item. */
interface StoredFeed {
  readonly record: string | null;
  readonly tail: string | null;
}

export class RedisFeeds implements Feeds {
  readonly #crawl: CrawlAccess;

  constructor(crawl: CrawlAccess) {
    this.#crawl = crawl;
  }

  async open(writer: FeedWriter, { staleMs, anew, overwrites }: FeedOpening): Promise<FeedCheckpoint | null> {
    const { feed, ...self } = writer;
    let displaced = '';
    for (;;) {
      const answer = named(
        await this.#crawl.call('feed_open', {
          feed,
          writer: JSON.stringify(self),
          staleMs,
          displaced,
          anew,
          overwrites,
        }),
      );
      if (text(answer.status) === 'open') {
        if (answer.sequence === undefined) return null;
        const { sequence, lengthBytes, header } = answer;
        return { sequence: int(sequence), lengthBytes: int(lengthBytes), header: text(header) };
      }
      if (text(answer.status) === 'format') throw otherFeedFormat(writer, text(answer.format));
      const held = JSON.parse(text(answer.writer)) as CurrentWriter;
      if (held.host !== writer.host || held.owner === displaced || isRunning(held.pid)) {
        throw feedHeld(writer.path, held);
      }
      displaced = held.owner;
    }
  }

  async read(feed: string, sequence: number, max: number): Promise<string[]> {
    const stored = await this.#readStored(feed);
    refuseRolledBack(stored, sequence);
    const count = Math.min(max, Number(stored.tail ?? 0) - sequence);
    if (count <= 0) return [];
    const fields = Array.from({ length: count }, (_, i) => `${feed}:${sequence + 1 + i}`);
    const items = await this.#crawl.connection.patiently((client) =>
      client.hmget(internalKey(this.#crawl.options.keys, 'outbox'), ...fields),
    );
    const hole = items.indexOf(null);
    if (hole < 0) return items as string[];
    // The store may have been restored from an older copy between the two commands. Then read again.
    if ((await this.#readStored(feed)).tail !== stored.tail) return this.read(feed, sequence, max);
    throw new CrawlnodeError(
      'outbox_damaged',
      `item ${sequence + 1 + hole} of feed ${feed} is gone from the outbox: somebody deleted it; reset the items to go on`,
    );
  }

  async #readStored(feed: string): Promise<StoredFeed> {
    const [record = null, tail = null] = await this.#crawl.connection.patiently((client) =>
      client.hmget(internalKey(this.#crawl.options.keys, 'feeds'), feed, `${feed}:tail`),
    );
    return { record, tail };
  }

  async checkpoint(writer: FeedWriter, checkpoint: FeedCheckpoint, after?: number): Promise<void> {
    const { feed, owner, path } = writer;
    const answer = Number(await this.#crawl.call('feed_checkpoint', { feed, owner, ...checkpoint, after }));
    if (answer === 2) throw feedRolledBack();
    if (answer === 0) throw feedTaken(path);
  }

  async take({ feed, owner, path }: FeedWriter, max: number): Promise<number> {
    const count = Number(await this.#crawl.call('feed_take', { feed, owner, most: max }));
    if (count < 0) throw feedTaken(path);
    return count;
  }

  async release({ feed, owner }: FeedWriter, how?: { readonly exported?: boolean }): Promise<void> {
    await this.#crawl.call('feed_checkpoint', { feed, owner, release: true, exported: how?.exported });
  }
}

/**
 * Refuses when the stored checkpoint is not the one that the writer continues from, as after the store was flushed or
 * restored from an older copy. A feed that is not stored at all is not refused.
 */
function refuseRolledBack({ record, tail }: StoredFeed, sequence: number): void {
  const last = record === null ? 0 : ((JSON.parse(record) as { sequence?: number }).sequence ?? 0);
  const isStored = record !== null || tail !== null;
  if (isStored && last !== sequence) throw feedRolledBack();
}
