/** What a crawl in Redis holds, for a backup: read by cursors and windows, a bounded number of values at a time. */
import {
  type BackupEntry,
  type BackupRequest,
  type BackupSeed,
  backupText,
  inEntries,
} from '../backup-entry.js';
import { readParts } from '../backup-parts.js';
import type { Dupefilter, FailedList, Part, Shape } from '../frontier.js';
import type { FrontierKeys, OpenOptions } from '../open.js';
import type { Call } from './calls.js';
import type { RedisConnection } from './connection.js';
import { type InternalWord, internalKey } from './keys.js';
import { readDupefilter } from './redis-backup-dupefilter.js';
import { type Placed, pendingRequests, type QueueStore } from './redis-backup-queue.js';
import { readFeeds } from './redis-feeds.js';
import type { Reply } from './reply.js';
import { type Ask, pairs, walk } from './walk.js';

/** Values of one reply: a command of well below a ms, whatever they are. */
const WINDOW = 500;

export class RedisBackup {
  readonly #ask: Ask;
  readonly #keys: FrontierKeys;
  readonly #failed: FailedList;

  readonly #call: Call;
  readonly #dupefilter: Dupefilter;

  constructor(connection: RedisConnection, { keys, shape }: OpenOptions, failed: FailedList, call: Call) {
    this.#ask = (question) => connection.patiently(question);
    this.#keys = keys;
    this.#dupefilter = shape.dupefilter;
    this.#failed = failed;
    this.#call = call;
  }

  async *read(parts: readonly Part[]): AsyncIterable<BackupEntry> {
    // The script refuses another data format, whatever is asked for.
    const leases = (await this.#call('read-leases', [])) as Reply[];
    yield* readParts(parts, {
      queue: () => this.#queue(leases),
      failed: (cursor, max) => this.#failed.list(cursor, max),
      dupefilter: () => readDupefilter(this.#ask, this.#keys, this.#dupefilter),
      seeds: () => this.#startUrls(),
      feeds: (withItems) => this.#feeds(withItems),
      items: () => this.#list(this.#keys.items),
      stats: () => this.#stats(),
    });
  }

  async *#queue(leases: readonly Reply[]): AsyncIterable<BackupEntry> {
    const meta = await this.#ask((client) => client.hgetall(this.#key('meta')));
    if (meta.version === undefined) return;
    const queueClass = meta.queue as Shape['queueClass'];
    yield {
      kind: 'crawl',
      queueClass,
      shape: meta.shape ? (JSON.parse(meta.shape) as Omit<Shape, 'dupefilter'>) : null,
      start: meta.start === 'pushed' ? 'pushed' : Number(meta.start ?? 0),
      done: Number(meta.done ?? 0),
      removed: Number(meta.removed ?? 0),
      beganAtMs: Number(meta.began) || null,
      seenSinceMs: Number(meta.seen_since ?? meta.began) || null,
    };
    const store: QueueStore = {
      ask: this.#ask,
      key: (word) => this.#key(word),
      leases,
      queueClass,
    };
    const size = ({ record }: BackupRequest) => record.length + 200;
    for await (const values of inEntries(this.#withRecords(pendingRequests(store)), size)) {
      yield { kind: 'requests', values };
    }
  }

  /** Requests whose record somebody deleted are no requests any more. */
  async *#withRecords(pages: AsyncIterable<readonly Placed[]>): AsyncIterable<BackupRequest[]> {
    for await (const page of pages) {
      for (let at = 0; at < page.length; at += WINDOW) {
        const some = page.slice(at, at + WINDOW);
        const ids = some.map(({ id }) => Buffer.from(id, 'hex'));
        const [records, crashes] = await this.#ask((client) =>
          Promise.all([
            client.hmget(this.#keys.requests, ...ids),
            client.hmget(this.#key('crashes'), ...ids),
          ]),
        );
        yield some.flatMap((placed, n) => {
          const record = records[n];
          if (record == null) return [];
          const count = Number(crashes[n] ?? 0);
          return [{ ...placed, ...(count > 0 ? { crashes: count } : {}), record }];
        });
      }
    }
  }

  async *#startUrls(): AsyncIterable<BackupEntry> {
    for (const [key, name] of this.#keys.startUrls.entries()) {
      for await (const values of inEntries(this.#seeds(name), seedLength)) {
        yield { kind: 'seeds', key, bad: false, values };
      }
      for await (const values of inEntries(this.#list(`${name}:bad`), byteLength)) {
        yield { kind: 'seeds', key, bad: true, values: values.map(backupText) };
      }
    }
  }

  /** In the order in which they would be taken in. */
  async *#seeds(name: string): AsyncIterable<BackupSeed[]> {
    const type = await this.#ask((client) => client.type(name));
    if (type === 'set') {
      const pages = walk(this.#ask, (client, cursor) => client.sscanBuffer(name, cursor, 'COUNT', WINDOW));
      for await (const page of pages) yield page.map(backupText);
    } else if (type === 'zset') {
      for (let at = 0; ; at += WINDOW) {
        const page = await this.#ask((client) =>
          client.zrevrangeBuffer(name, at, at + WINDOW - 1, 'WITHSCORES'),
        );
        yield pairs(page).map(([value, score]) => ({ seed: backupText(value), score: Number(score) }));
        if (page.length < 2 * WINDOW) return;
      }
    } else {
      for await (const page of this.#list(name)) yield page.map(backupText);
    }
  }

  async *#feeds(withItems: boolean): AsyncIterable<BackupEntry> {
    const fields = await this.#ask((client) => client.hgetall(this.#key('feeds')));
    for (const { feed, record, last } of readFeeds(fields)) {
      const { host, path, format, sequence, lengthBytes = 0, header = '', exporting = false } = record;
      const written = sequence ?? 0;
      // Resetting the queue alone forgets a feed only when all of it is written.
      if (!withItems && last > written) continue;
      const checkpoint = sequence === undefined ? null : { sequence, lengthBytes, header };
      yield { kind: 'feed', feed, host, path, ...(format && { format }), exporting, checkpoint };
      for await (const values of inEntries(this.#outbox(feed, written, last), byteLength)) {
        yield { kind: 'outbox', feed, values: values.map(backupText) };
      }
    }
  }

  async *#outbox(feed: string, from: number, last: number): AsyncIterable<Buffer[]> {
    for (let at = from + 1; at <= last; at += WINDOW) {
      const fields = Array.from({ length: Math.min(WINDOW, last - at + 1) }, (_, n) => `${feed}:${at + n}`);
      const items = await this.#ask((client) => client.hmgetBuffer(this.#key('outbox'), ...fields));
      yield items.filter((item) => item !== null);
    }
  }

  async *#stats(): AsyncIterable<BackupEntry> {
    const pages = walk(this.#ask, (client, cursor) =>
      client.hscan(this.#keys.stats, cursor, 'COUNT', WINDOW),
    );
    for await (const page of pages) {
      const values = pairs(page)
        .map(([name, value]): [string, number] => [name, Number(value)])
        .filter(([, value]) => Number.isSafeInteger(value));
      if (values.length > 0) yield { kind: 'stats', values };
    }
  }

  async *#list(name: string): AsyncIterable<Buffer[]> {
    for (let at = 0; ; at += WINDOW) {
      const page = await this.#ask((client) => client.lrangeBuffer(name, at, at + WINDOW - 1));
      yield page;
      if (page.length < WINDOW) return;
    }
  }

  #key(word: InternalWord): string {
    return internalKey(this.#keys, word);
  }
}

const byteLength = (value: Buffer): number => value.length;

function seedLength(seed: BackupSeed): number {
  const text = typeof seed === 'object' && 'seed' in seed ? seed.seed : seed;
  return typeof text === 'string' ? text.length : text.base64.length;
}
