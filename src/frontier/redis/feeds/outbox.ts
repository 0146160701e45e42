/** Feeds in Redis: the outbox of committed items, and the checkpoint of the file each is written to. */
import { createHash } from 'node:crypto';
import { CrawlnodeError } from '../../../errors.js';
import type { FeedChange, FeedCheckpoint, OpenedCheckpoint } from '../../../feed-outbox.js';
import {
  feedHeld,
  feedRecordDamaged,
  feedRolledBack,
  feedTaken,
  isRunning,
  otherFeedFormat,
} from '../../feed-claim.js';
import type { Feeds } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import { foreignKeyError, tooManyFields } from '../connection/errors.js';
import { int, json } from '../connection/reply.js';
import { type Ask, pairs, walk } from '../connection/scan.js';
import { numberField, storedObject, textField } from '../crawl/stored-json.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey, MAX_FIELDS } from '../keys.js';

/** A feed as its field of the HASH `:~feeds` has it: its writer, none without an owner, and its checkpoint, if any. */
interface FeedRecord extends Partial<FeedCheckpoint> {
  readonly host: string;
  readonly path: string;
  readonly pid: number;
  readonly owner?: string;
  readonly format?: string;
  readonly exporting?: boolean;
  /** Last sign of life of its writer; 0 once it has left a crawl that was finished. */
  readonly seenMs: number;
  readonly changed: (FeedChange & { readonly accepted?: boolean }) | null;
}

/** Records have some hundred bytes: beyond it, the HASH is not ours alone. */
const MAX_FEED_CHARACTERS = 8 * 1024 * 1024;
const FIELDS_AT_ONCE = 500;

/**
 * The feeds of that HASH, each with the sequence of its last item, also those that nobody has opened yet. It is read in pages.
 * @throws RefusedError where it holds far more than crawlnode writes
 */
export async function readFeeds(ask: Ask, keys: FrontierKeys) {
  const key = internalKey(keys, 'feeds');
  const fields: Record<string, string> = {};
  let [count, characters] = [0, 0];
  const pages = walk(ask, (client, cursor) => client.hscan(key, cursor, 'COUNT', FIELDS_AT_ONCE));
  for await (const page of pages) {
    for (const [field, value] of pairs(page)) {
      fields[field] = value;
      count += 1;
      characters += field.length + value.length;
    }
    if (count > MAX_FIELDS.feeds! || characters > MAX_FEED_CHARACTERS)
      throw foreignKeyError(tooManyFields(key, count, characters));
  }
  return feedsOf(fields);
}

function feedsOf(fields: Readonly<Record<string, string>>) {
  const names = new Set(Object.keys(fields).map((field) => field.replace(/:tail$/, '')));
  return [...names].map((feed) => ({
    feed,
    record: recordOf(storedObject(fields[feed])),
    last: tailOf(fields[`${feed}:tail`]),
  }));
}

/** 0 for what somebody overwrote with text. */
const tailOf = (text: string | null | undefined): number => Number(text ?? 0) || 0;

/** What the store has of a feed; without host and path where it cannot be read (`lua/feeds/feeds.lua`). */
function recordOf(stored: Readonly<Record<string, unknown>>): FeedRecord {
  const optional = {
    owner: textField(stored, 'owner'),
    format: textField(stored, 'format'),
    sequence: numberField(stored, 'sequence'),
    lengthBytes: numberField(stored, 'lengthBytes'),
    header: textField(stored, 'header'),
    end: textField(stored, 'end'),
  };
  return {
    host: textField(stored, 'host') ?? '',
    path: textField(stored, 'path') ?? '',
    pid: numberField(stored, 'pid') ?? 0,
    exporting: stored.exporting === true,
    seenMs: numberField(stored, 'seenMs') ?? 0,
    changed: (stored.changed ?? null) as FeedRecord['changed'],
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** The answer of `lua/feeds/feed-open.lua`. */
type Opened =
  | { readonly status: 'open'; readonly checkpoint?: OpenedCheckpoint }
  | { readonly status: 'damaged' }
  | { readonly status: 'format'; readonly format: string }
  | { readonly status: 'held'; readonly writer: Readonly<Record<string, unknown>> };

/** How far a feed is written, and how far its items go. */
interface Heads {
  readonly sequence: number;
  readonly last: number;
  /** Whether the store has anything of the feed. */
  readonly isKnown: boolean;
}

export function redisFeeds({ connection, options, call }: CrawlAccess): Feeds {
  const { keys } = options;

  async function heads(feed: string): Promise<Heads> {
    const [record, tail] = await connection.patiently((client) =>
      client.hmget(internalKey(keys, 'feeds'), feed, `${feed}:tail`),
    );
    const { sequence = 0 } = recordOf(storedObject(record));
    return { sequence, last: tailOf(tail), isKnown: record != null || tail != null };
  }

  async function read(feed: string, sequence: number, max: number): Promise<string[]> {
    const { isKnown, sequence: written, last } = await heads(feed);
    // A store that was restored from an older copy knows an older checkpoint than the one its writer goes on from, and one
    // that was flushed knows none.
    if (isKnown && written !== sequence) throw feedRolledBack();
    const count = Math.min(max, last - sequence);
    if (count <= 0) return [];
    const fields = Array.from({ length: count }, (_, i) => `${feed}:${sequence + 1 + i}`);
    const items = await connection.patiently((client) =>
      client.hmget(internalKey(keys, 'outbox'), ...fields),
    );
    const hole = items.indexOf(null);
    if (hole < 0) return items as string[];
    // Between the two questions the store may have been restored from an older copy: then ask it again.
    if ((await heads(feed)).last !== last) return read(feed, sequence, max);
    throw new CrawlnodeError(
      'outbox_damaged',
      `item ${sequence + 1 + hole} of feed ${feed} is gone from the outbox: stop the nodes and run "crawlnode doctor SPIDER --repair"`,
    );
  }

  return {
    async open(writer, { staleMs, anew, overwrites }) {
      const { feed, ...self } = writer;
      let displaced = '';
      for (;;) {
        const args = { feed, writer: JSON.stringify(self), staleMs, displaced, anew, overwrites };
        const answer = json<Opened>(await call('feed_open', args));
        if (answer.status === 'open') return answer.checkpoint ?? null;
        if (answer.status === 'damaged') throw feedRecordDamaged(writer.path);
        if (answer.status === 'format') throw otherFeedFormat(writer, answer.format);
        const held = recordOf(answer.writer);
        if (held.host !== writer.host || held.owner === displaced || isRunning(held.pid)) {
          throw feedHeld(writer.path, held);
        }
        displaced = held.owner ?? '';
      }
    },
    read,
    async waiting(feed) {
      const { sequence, last } = await heads(feed);
      return Math.max(0, last - sequence);
    },
    async checkpoint({ feed, owner, path }, checkpoint, after, written, unreadable = 0) {
      const args = { feed, owner, ...checkpoint, after, digest: digestOf(written), unreadable };
      const answer = int(await call('feed_checkpoint', args));
      if (answer === 3) throw feedRecordDamaged(path);
      if (answer === 2) throw feedRolledBack();
      if (answer === 0) throw feedTaken(path);
    },
    async noteChange(feed, { what, items }) {
      await call('feed_changed', { feed, what, items });
    },
    async take({ feed, owner, path }, max) {
      const count = int(await call('feed_take', { feed, owner, most: max }));
      if (count < 0) throw feedTaken(path);
      return count;
    },
    peek: (from, max) => connection.patiently((client) => client.lrange(keys.items, from, from + max - 1)),
    async release({ feed, owner }, how) {
      await call('feed_checkpoint', { feed, owner, release: true, exported: how?.exported });
    },
  };
}

/** As `lua/feeds/feed-checkpoint.lua` computes it; none for items whose bytes were no UTF-8, which were replaced when they were read. */
function digestOf(items: readonly string[] = []): string | undefined {
  if (items.length === 0 || items.some((item) => item.includes('\ufffd'))) return undefined;
  return createHash('sha1').update(items.join('\n')).digest('hex');
}
