/** Reads the entries of a crawl for a backup. */
import { type BackupEntry, type BackupRequest, backupText, inEntries } from '../../backup/entry.js';
import { readParts } from '../../backup/parts.js';
import type { Part, Shape } from '../../frontier.js';
import type { CommitBatch } from '../base/commit-batch.js';
import { rowsInWindows, WINDOW } from '../base/in-windows.js';
import type { Space } from '../base/keyspaces.js';
import type { Transaction } from '../base/transaction.js';
import { cookiesSince } from '../cookies/read-cookies.js';
import { bufferOf } from '../dupefilters/dupefilter.js';
import { listFailed } from '../failed/failed-list.js';
import { type FeedRow, readFeedRows } from '../feeds/feed-row.js';
import { checkpointOf, readOutbox, waiting } from '../feeds/outbox.js';
import { refuseOtherFormat } from '../nodes/shared-settings.js';
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
    items: () => readList(batch, 'item', 'text', (tx) => tx.spaces.items),
    stats: () => readStats(batch),
  });
}

async function* readQueue(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const crawl = await batch.read(describeCrawl);
  if (crawl === null) return;
  yield crawl;
  const rows = rowsInWindows<RequestRow>(batch, requests, ({ space }) => space, Buffer.alloc(0));
  for await (const values of inEntries(rows, ({ record }) => record.length + 200)) {
    yield { kind: 'requests', values: values.map(backupRequest) };
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

/**
 * In the order of ids, whose index leaves out other crawls. A leased request is given as pending, with its arrival, which is
 * negative under LifoQueue.
 */
const requests = `
  SELECT id AS key, lower(hex(id)) AS id, domain, priority,
    iif(state = 'delayed', coalesce(due, 0) / 1000.0, NULL) AS dueAtMs,
    iif(state = 'delayed', NULL, abs(arrival)) AS arrival,
    crashes, text AS record
  FROM request JOIN record USING (n, space, id)
  WHERE space = ? AND request.id > ? AND state <> 'failed' ORDER BY key LIMIT ?`;

interface RequestRow extends Pick<BackupRequest, 'id' | 'domain' | 'priority' | 'record'> {
  readonly dueAtMs: number | null;
  readonly arrival: number | null;
  readonly crashes: number;
}

function backupRequest(row: RequestRow): BackupRequest {
  const { id, domain, priority, dueAtMs, arrival, crashes, record } = row;
  return {
    ...{ id, domain, priority },
    ...(dueAtMs !== null && { dueAtMs }),
    ...(arrival !== null && { arrival }),
    ...(crashes > 0 && { crashes }),
    record,
  };
}

async function* readSeeds(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const count = await batch.read((tx) => tx.spaces.startUrls.length);
  for (let key = 0; key < count; key += 1) {
    for (const bad of [false, true]) {
      const [table, column] = bad ? (['bad_seed', 'entry'] as const) : (['seed', 'value'] as const);
      const listOf = ({ spaces }: Transaction) => spaces.startUrls[key]![bad ? 'bad' : 'good'];
      for await (const values of inEntries(readList(batch, table, column, listOf), ({ length }) => length)) {
        yield { kind: 'seeds', key, bad, values: values.map(backupText) };
      }
    }
  }
}

/** The bytes of the entries of a list. */
async function* readList(
  batch: CommitBatch,
  table: string,
  column: string,
  listOf: (tx: Transaction) => Space,
): AsyncIterable<readonly Buffer[]> {
  const query = `SELECT n AS key, CAST(${column} AS BLOB) AS value FROM ${table}
    WHERE space = ? AND n > ? ORDER BY n LIMIT ?`;
  for await (const rows of rowsInWindows<{ value: Uint8Array }>(batch, query, (tx) => listOf(tx).id, 0)) {
    yield rows.map(({ value }) => bufferOf(value));
  }
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
    const texts = readWaiting(batch, row, checkpoint?.sequence ?? 0);
    for await (const values of inEntries(texts, ({ length }) => length))
      yield { kind: 'outbox', feed, values };
  }
}

async function* readWaiting(
  batch: CommitBatch,
  { feed, last }: FeedRow,
  after: number,
): AsyncIterable<readonly string[]> {
  for (let from = after; from < last; from += WINDOW)
    yield batch.read((tx) => readOutbox(tx, feed, from, WINDOW));
}

async function* readStats(batch: CommitBatch): AsyncIterable<BackupEntry> {
  const counters = await batch.read((tx) => tx.counters.all());
  for await (const values of inEntries([counters], ([name]) => name.length)) yield { kind: 'stats', values };
}
