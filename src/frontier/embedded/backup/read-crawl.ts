/** What a crawl holds, for a backup: read in windows by primary key, each a short transaction of its own. */
import { type BackupEntry, type BackupRequest, backupText, inEntries } from '../../backup/entry.js';
import { readParts } from '../../backup/parts.js';
import type { Part, Shape } from '../../frontier.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import { shapeOf } from '../crawl/crawl-row.js';
import type { Transaction } from '../crawl/transaction.js';
import { bufferOf } from '../dupefilters/dupefilter.js';
import { readFeedRows } from '../feeds/feed-row.js';
import { checkpointOf, readOutbox, waiting } from '../feeds/outbox.js';
import type { Value } from '../file/sqlite.js';
import { refuseOtherFormat } from '../nodes/agreement.js';
import { listFailed } from '../queue/failures.js';
import { hexOf } from '../queue/requests.js';
import { readSeen } from './seen-values.js';

/** Rows of one transaction: some ms, whatever they are. */
const WINDOW = 500;

/** A window of values, and where the next one begins. */
export interface Page<T, Key extends Value> {
  readonly values: readonly T[];
  /** Null at the end. */
  readonly next: Key | null;
}

/** Everything that the parts hold; nothing of it may change meanwhile. */
export async function* readCrawl(batch: CommitBatch, parts: readonly Part[]): AsyncIterable<BackupEntry> {
  await batch.read(refuseOtherFormat);
  yield* readParts(parts, {
    queue: () => readQueue(batch),
    failed: (cursor, max) => batch.read((tx) => listFailed(tx, cursor, max)),
    dupefilter: () => readSeen(batch, WINDOW),
    seeds: () => readSeeds(batch),
    feeds: (withItems) => readFeeds(batch, withItems),
    items: () => pages<Buffer, number>(batch, 0, readItems),
    stats: () => readStats(batch),
  });
}

/** Read page after page, each in a transaction of its own. */
export async function* pages<T, Key extends Value>(
  batch: CommitBatch,
  first: Key,
  read: (tx: Transaction, from: Key, max: number) => Page<T, Key>,
): AsyncIterable<readonly T[]> {
  for (let from: Key | null = first; from !== null; ) {
    const at: Key = from;
    const page: Page<T, Key> = await batch.read((tx) => read(tx, at, WINDOW));
    yield page.values;
    from = page.next;
  }
}

async function* readQueue(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const crawl = await batch.read(describeCrawl);
  if (crawl === null) return;
  yield crawl;
  const requests = pages<BackupRequest, Uint8Array>(batch, Buffer.alloc(0), readRequests);
  for await (const values of inEntries(requests, ({ record }) => record.length + 200)) {
    yield { kind: 'requests', values };
  }
}

function describeCrawl(tx: Transaction): BackupEntry | null {
  if (!tx.hasCrawl) return null;
  const { queue_class, start_pushed, start_count, began_at, seen_since } = tx.crawl;
  const { done, removed } = tx.tally;
  const shape = shapeOf(tx.crawl);
  const start = start_pushed === 1 ? 'pushed' : start_count;
  return {
    ...{
      kind: 'crawl',
      queueClass: queue_class,
      shape: shape === null ? null : withoutDupefilter(shape),
      start,
    },
    ...{ done, removed, beganAtMs: began_at, seenSinceMs: seen_since },
  };
}

/** The dupefilter is an entry of its own. */
function withoutDupefilter({ dupefilter: _, ...shape }: Shape): Omit<Shape, 'dupefilter'> {
  return shape;
}

/** By id, so that other crawls of the folder are not walked through. A leased one becomes pending, with its arrival. */
function readRequests(
  { sql, space, crawl }: Transaction,
  after: Uint8Array,
  max: number,
): Page<BackupRequest, Uint8Array> {
  const rows = sql.all<{
    id: Uint8Array;
    domain: string;
    state: string;
    priority: number;
    arrival: number;
    due: number | null;
    crashes: number;
    unfiltered: 0 | 1;
    text: string | null;
  }>`SELECT id, domain, state, priority, arrival, due, crashes, unfiltered, text FROM request LEFT JOIN record USING (n)
     WHERE space = ${space} AND id > ${after} ORDER BY id LIMIT ${max}`;
  const values = rows.flatMap(
    ({ id, domain, state, priority, arrival: stored, due, crashes, unfiltered, text }): BackupRequest[] => {
      if (state === 'failed' || text === null) return [];
      const arrival = crawl.queue_class === 'LifoQueue' ? -stored : stored;
      return [
        {
          ...{ id: hexOf(id), domain, priority },
          ...(state === 'delayed' ? { dueAtMs: (due ?? 0) / 1000 } : { arrival }),
          ...(crashes > 0 ? { crashes } : {}),
          ...(unfiltered === 1 ? { unfiltered: true } : {}),
          record: text,
        },
      ];
    },
  );
  return { values, next: rows.length < max ? null : rows.at(-1)!.id };
}

async function* readSeeds(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const count = await batch.read((tx) => tx.spaces.startUrls.length);
  for (let key = 0; key < count; key += 1) {
    for (const bad of [false, true]) {
      const seeds = pages<Buffer, number>(batch, 0, (tx, after, max) => {
        const space = tx.spaces.startUrls[key]![bad ? 'bad' : 'good'].id;
        const rows = bad
          ? tx.sql
              .all<ListRow>`SELECT n, entry AS value FROM bad_seed WHERE space = ${space} AND n > ${after} ORDER BY n LIMIT ${max}`
          : tx.sql
              .all<ListRow>`SELECT n, value FROM seed WHERE space = ${space} AND n > ${after} ORDER BY n LIMIT ${max}`;
        return listPage(rows, max);
      });
      for await (const values of inEntries(seeds, ({ length }) => length)) {
        yield { kind: 'seeds', key, bad, values: values.map(backupText) };
      }
    }
  }
}

function readItems({ sql, spaces }: Transaction, after: number, max: number): Page<Buffer, number> {
  const rows = sql.all<ListRow>`
    SELECT n, text AS value FROM item WHERE space = ${spaces.items.id} AND n > ${after} ORDER BY n LIMIT ${max}`;
  return listPage(rows, max);
}

interface ListRow {
  readonly n: number;
  readonly value: Uint8Array | string;
}

function listPage(rows: readonly ListRow[], max: number): Page<Buffer, number> {
  const values = rows.map(({ value }) => (typeof value === 'string' ? Buffer.from(value) : bufferOf(value)));
  return { values, next: rows.length < max ? null : rows.at(-1)!.n };
}

async function* readFeeds(batch: CommitBatch, withItems: boolean): AsyncIterable<BackupEntry> {
  for (const row of await batch.read(readFeedRows)) {
    // Resetting the queue alone forgets a feed only when all of it is written.
    if (!withItems && waiting(row) > 0) continue;
    const { feed, host, path, format, is_exporting } = row;
    const checkpoint = checkpointOf(row);
    yield {
      ...{ kind: 'feed', feed, host, path, ...(format !== null && { format }) },
      ...{ exporting: is_exporting === 1, checkpoint },
    };
    const texts = pages<string, number>(batch, checkpoint?.sequence ?? 0, (tx, from, max) => {
      const values = readOutbox(tx, feed, from, max);
      return { values, next: values.length < max ? null : from + max };
    });
    for await (const values of inEntries(texts, ({ length }) => length))
      yield { kind: 'outbox', feed, values };
  }
}

async function* readStats(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const counters = Object.entries(await batch.read((tx) => tx.counters.read()));
  for await (const values of inEntries([counters], ([name]) => name.length)) yield { kind: 'stats', values };
}
