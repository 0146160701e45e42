/** Reads the entries of a crawl for a backup. */
import { type BackupEntry, type BackupRequest, backupText, inEntries } from '../../backup/entry.js';
import { readParts } from '../../backup/parts.js';
import type { Part, Shape } from '../../frontier.js';
import { cookiesSince } from '../cookies/read-cookies.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';
import { bufferOf } from '../dupefilters/dupefilter.js';
import { readFeedRows } from '../feeds/feed-row.js';
import { checkpointOf, readOutbox, waiting } from '../feeds/outbox.js';
import { refuseOtherFormat } from '../nodes/shared-settings.js';
import { listFailed } from '../queue/failures.js';
import { hexOf } from '../queue/requests.js';
import { type Page, pageOf, pages } from './read-in-windows.js';
import { readSeen } from './seen-values.js';

/** All entries of the parts. The crawl must not change meanwhile. */
export async function* readCrawl(batch: CommitBatch, parts: readonly Part[]): AsyncIterable<BackupEntry> {
  await batch.read(refuseOtherFormat);
  yield* readParts(parts, {
    queue: () => readQueue(batch),
    cookies: (since, readAnewAt) => batch.read((tx) => cookiesSince(tx, since, readAnewAt)),
    failed: (cursor, max) => batch.read((tx) => listFailed(tx, cursor, max)),
    dupefilter: () => readSeen(batch),
    seeds: () => readSeeds(batch),
    feeds: (withItems) => readFeeds(batch, withItems),
    items: () => pages<Buffer, number>(batch, 0, readItems),
    stats: () => readStats(batch),
  });
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
  const { queue_class, began_at, seen_since, shape } = tx.crawl;
  const { done, removed, lost } = tx.tally;
  const { '': start = 0, ...starts } = tx.crawl.starts;
  return {
    ...{ kind: 'crawl', queueClass: queue_class, start, done, removed, lost },
    ...(Object.keys(starts).length > 0 && { starts }),
    shape: shape === null ? null : withoutDupefilter(shape),
    ...{ beganAtMs: began_at, seenSinceMs: seen_since },
  };
}

/** The dupefilter is an entry of its own. */
function withoutDupefilter({ dupefilter: _, ...shape }: Shape): Omit<Shape, 'dupefilter'> {
  return shape;
}

/** In the order of ids, whose index leaves out other crawls. A leased request is given as pending, with its arrival. */
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
  return pageOf(
    rows,
    max,
    ({ id }) => id,
    ({ id, domain, state, priority, arrival, due, crashes, unfiltered, text }): BackupRequest[] => {
      if (state === 'failed' || text === null) return [];
      const isDelayed = state === 'delayed';
      return [
        {
          ...{ id: hexOf(id), domain, priority },
          ...(isDelayed && { dueAtMs: (due ?? 0) / 1000 }),
          ...(!isDelayed && { arrival: crawl.queue_class === 'LifoQueue' ? -arrival : arrival }),
          ...(crashes > 0 && { crashes }),
          ...(unfiltered === 1 && { unfiltered: true }),
          record: text,
        },
      ];
    },
  );
}

async function* readSeeds(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const count = await batch.read((tx) => tx.spaces.startUrls.length);
  for (let key = 0; key < count; key += 1) {
    for (const bad of [false, true]) {
      const seeds = pages<Buffer, number>(batch, 0, (tx, after, max) => {
        const { id } = tx.spaces.startUrls[key]![bad ? 'bad' : 'good'];
        const list = bad ? 'SELECT n, entry AS value FROM bad_seed' : 'SELECT n, value FROM seed';
        return readList(tx, list, id, after, max);
      });
      for await (const values of inEntries(seeds, ({ length }) => length)) {
        yield { kind: 'seeds', key, bad, values: values.map(backupText) };
      }
    }
  }
}

function readItems(tx: Transaction, after: number, max: number): Page<Buffer, number> {
  return readList(tx, 'SELECT n, text AS value FROM item', tx.spaces.items.id, after, max);
}

/** @param list a query for the number and the value of each row. */
function readList(
  { sql }: Transaction,
  list: string,
  space: number,
  after: number,
  max: number,
): Page<Buffer, number> {
  const rows = sql.of(`${list} WHERE space = ? AND n > ? ORDER BY n LIMIT ?`).all(space, after, max) as {
    readonly n: number;
    readonly value: Uint8Array | string;
  }[];
  return pageOf(
    rows,
    max,
    ({ n }) => n,
    ({ value }) => [typeof value === 'string' ? Buffer.from(value) : bufferOf(value)],
  );
}

async function* readFeeds(batch: CommitBatch, withItems: boolean): AsyncIterable<BackupEntry> {
  for (const row of await batch.read(readFeedRows)) {
    // A reset of the queue alone deletes a feed only when all of its items are written.
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
  const counters = await batch.read((tx) => tx.counters.all());
  for await (const values of inEntries([counters], ([name]) => name.length)) yield { kind: 'stats', values };
}
