/** Feeds in Redis: the outbox of committed items, and the checkpoint of the file each is written to. */
import { createHash } from 'node:crypto';
import { CrawlnodeError } from '../../errors.js';
import type { FeedCheckpoint, FeedOpening, FeedWriter } from '../../feed-outbox.js';
import { feedHeld, feedRolledBack, feedTaken, isRunning, otherFeedFormat } from '../feed-claim.js';
import type { Feeds } from '../frontier.js';
import { int, named, text } from './connection/reply.js';
import type { CrawlAccess } from './crawl-access.js';
import { internalKey } from './keys.js';
import { numberField, storedObject, textField } from './read/stored-json.js';

/** A feed as its field of the HASH `:~feeds` has it: its writer, none without an owner, and its checkpoint, if any. */
interface FeedRecord extends Partial<FeedCheckpoint> {
  readonly host: string;
  readonly path: string;
  readonly pid: number;
  readonly owner?: string;
  readonly format?: string;
  readonly exporting?: boolean;
}

/** The feeds of that HASH, each with the sequence of its last item, also those that nobody has opened yet. */
export function readFeeds(fields: Readonly<Record<string, string>>) {
  const names = new Set(Object.keys(fields).map((field) => field.replace(/:tail$/, '')));
  return [...names].map((feed) => ({
    feed,
    record: readRecord(fields[feed] ?? '{}'),
    last: Number(fields[`${feed}:tail`] ?? 0),
  }));
}

/** What the store has of a feed; without host and path where it cannot be read (`lua/feeds/feeds.lua`). */
function readRecord(text: string): FeedRecord {
  const stored = storedObject(text);
  const optional = {
    owner: textField(stored, 'owner'),
    format: textField(stored, 'format'),
    sequence: numberField(stored, 'sequence'),
    lengthBytes: numberField(stored, 'lengthBytes'),
    header: textField(stored, 'header'),
  };
  return {
    host: textField(stored, 'host') ?? '',
    path: textField(stored, 'path') ?? '',
    pid: numberField(stored, 'pid') ?? 0,
    exporting: stored.exporting === true,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** How far a feed is written, and how far its items go. */
interface Heads {
  readonly sequence: number;
  readonly last: number;
  /** Whether the store has anything of the feed. */
  readonly isKnown: boolean;
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
      const held = readRecord(text(answer.writer));
      if (held.host !== writer.host || held.owner === displaced || isRunning(held.pid)) {
        throw feedHeld(writer.path, held);
      }
      displaced = held.owner ?? '';
    }
  }

  async read(feed: string, sequence: number, max: number): Promise<string[]> {
    const heads = await this.heads(feed);
    // A store that was restored from an older copy knows an older checkpoint than the one its writer goes on from, and one
    // that was flushed knows none.
    if (heads.isKnown && heads.sequence !== sequence) throw feedRolledBack();
    const count = Math.min(max, heads.last - sequence);
    if (count <= 0) return [];
    const fields = Array.from({ length: count }, (_, i) => `${feed}:${sequence + 1 + i}`);
    const items = await this.#crawl.connection.patiently((client) =>
      client.hmget(internalKey(this.#crawl.options.keys, 'outbox'), ...fields),
    );
    const hole = items.indexOf(null);
    if (hole < 0) return items as string[];
    // Between the two questions the store may have been restored from an older copy: then ask it again.
    if ((await this.heads(feed)).last !== heads.last) return this.read(feed, sequence, max);
    throw new CrawlnodeError(
      'outbox_damaged',
      `item ${sequence + 1 + hole} of feed ${feed} is gone from the outbox: somebody deleted it; reset the items to go on`,
    );
  }

  async waiting(feed: string): Promise<number> {
    const { sequence, last } = await this.heads(feed);
    return last - sequence;
  }

  async heads(feed: string): Promise<Heads> {
    const [known = null, tail = null] = await this.#crawl.connection.patiently((client) =>
      client.hmget(internalKey(this.#crawl.options.keys, 'feeds'), feed, `${feed}:tail`),
    );
    const { sequence = 0 } = readRecord(known ?? '{}');
    return { sequence, last: Number(tail ?? 0), isKnown: known !== null || tail !== null };
  }

  async checkpoint(...[writer, checkpoint, after, written]: Parameters<Feeds['checkpoint']>): Promise<void> {
    const { feed, owner, path } = writer;
    const args = { feed, owner, ...checkpoint, after, digest: digestOf(written) };
    const answer = Number(await this.#crawl.call('feed_checkpoint', args));
    if (answer === 2) throw feedRolledBack();
    if (answer === 0) throw feedTaken(path);
  }

  async take({ feed, owner, path }: FeedWriter, max: number): Promise<number> {
    const count = Number(await this.#crawl.call('feed_take', { feed, owner, most: max }));
    if (count < 0) throw feedTaken(path);
    return count;
  }

  async peek(max: number): Promise<string[]> {
    const { connection, options } = this.#crawl;
    return connection.patiently((client) => client.lrange(options.keys.items, 0, max - 1));
  }

  async release({ feed, owner }: FeedWriter, how?: { readonly exported?: boolean }): Promise<void> {
    await this.#crawl.call('feed_checkpoint', { feed, owner, release: true, exported: how?.exported });
  }
}

/** As `lua/feeds/feed-checkpoint.lua` computes it; none for items whose bytes were no UTF-8, which were replaced when they were read. */
function digestOf(items: readonly string[] = []): string | undefined {
  if (items.length === 0 || items.some((item) => item.includes('\ufffd'))) return undefined;
  return createHash('sha1').update(items.join('\n')).digest('hex');
}
