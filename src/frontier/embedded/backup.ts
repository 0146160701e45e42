/** What a crawl in LMDB holds, for a backup: read in windows, each a short transaction of its own. */
import { type BackupEntry, type BackupRequest, backupText, inEntries } from '../backup-entry.js';
import { readParts } from '../backup-parts.js';
import type { Part, Shape } from '../frontier.js';
import { refuseOtherFormat } from './agreement.js';
import type { SeenValue } from './dupefilter.js';
import { listFailed } from './failures.js';
import { HEAD_BYTES, ID_BYTES, keyOf, Table } from './keys.js';
import { readCounters } from './lists.js';
import { backUpFeeds, readOutbox } from './outbox.js';
import { decodeRequest } from './request-entry.js';
import type { Entry } from './tables.js';
import type { Transaction } from './transaction.js';
import type { Turn } from './turn.js';

/** Entries of one transaction: below a ms, whatever they are. */
const WINDOW = 500;
const LOWEST_BYTE = Buffer.from([0]);

/** Everything that the parts hold; nothing of it may change meanwhile. */
export async function* readCrawl(turn: Turn, parts: readonly Part[]): AsyncIterable<BackupEntry> {
  await turn.read(refuseOtherFormat);
  yield* readParts(parts, {
    queue: () => readQueue(turn),
    failed: (cursor, max) => turn.read((tx) => listFailed(tx, cursor, max)),
    dupefilter: () => readSeen(turn),
    seeds: () => readSeeds(turn),
    feeds: (withItems) => readFeeds(turn, withItems),
    items: () => readList(turn, (tx) => tx.spaces.items),
    stats: () => readStats(turn),
  });
}

async function* readQueue(turn: Turn): AsyncIterable<BackupEntry> {
  const crawl = await turn.read((tx): BackupEntry | null => {
    const state = tx.peekState();
    if (state === undefined) return null;
    const { queueClass, shape: whole, startPushed, startCount, beganAtMs, seenSinceMs } = tx.meta();
    const shape = whole === null ? null : withoutDupefilter(whole);
    const { done, removed } = state;
    const start = startPushed ? 'pushed' : startCount;
    return { kind: 'crawl', queueClass, shape, start, done, removed, beganAtMs, seenSinceMs };
  });
  if (crawl === null) return;
  yield crawl;
  const requests = readRequests(turn);
  for await (const values of inEntries(requests, ({ record }) => record.length + 200)) {
    yield { kind: 'requests', values };
  }
}

/** The dupefilter is an entry of its own. */
function withoutDupefilter({ dupefilter: _, ...shape }: Shape): Omit<Shape, 'dupefilter'> {
  return shape;
}

async function* readRequests(turn: Turn): AsyncIterable<BackupRequest[]> {
  for await (const page of walk(turn, (tx) => keyOf(Table.request, tx.spaces.crawl))) {
    yield page.flatMap(({ value }): BackupRequest[] => {
      const { id, phase, domain, priority, arrival, at, crashes, unfiltered, record } = decodeRequest(value);
      if (phase === 'failed') return [];
      return [
        {
          ...{ id, domain, priority },
          ...(phase === 'delayed' ? { dueAtMs: at / 1000 } : { arrival }),
          ...(crashes > 0 ? { crashes } : {}),
          ...(unfiltered ? { unfiltered } : {}),
          record,
        },
      ];
    });
  }
}

async function* readSeen(turn: Turn): AsyncIterable<BackupEntry> {
  const layout = await turn.read((tx) => tx.dupefilter.layout());
  if (layout === null) return;
  const { choice, index, table, space } = layout;
  yield { kind: 'dupefilter', choice, engine: 'embedded', index };
  const pages = walk(turn, () => keyOf(table, space));
  const entries = readSeenEntries(turn, pages, index !== null);
  for await (const entry of entries) yield entry;
}

async function* readSeenEntries(
  turn: Turn,
  pages: AsyncIterable<Entry[]>,
  isBits: boolean,
): AsyncIterable<BackupEntry> {
  if (isBits) {
    const bits = (entry: Entry) =>
      [entry.key.toString('hex', HEAD_BYTES), entry.value.toString('base64')] as const;
    for await (const values of inEntries(pages, ({ value }) => value.length)) {
      yield { kind: 'bits', values: values.map(bits) };
    }
    return;
  }
  async function* known(): AsyncIterable<SeenValue[]> {
    for await (const page of pages) yield await turn.read((tx) => tx.dupefilter.backUp(page));
  }
  for await (const values of inEntries(known(), () => 2 * ID_BYTES)) yield seenEntry(values);
}

function seenEntry(values: readonly SeenValue[]): BackupEntry {
  const [first] = values;
  const lives = values.flatMap(({ life }) => (life === undefined ? [] : [life]));
  return {
    kind: 'seen',
    values: values.map(({ fingerprint }) => fingerprint),
    ...(first?.untilMs === undefined ? {} : { untilMs: values.map(({ untilMs }) => untilMs ?? null) }),
    ...(first?.life === undefined ? {} : { lives }),
  };
}

async function* readSeeds(turn: Turn): AsyncIterable<BackupEntry> {
  const count = await turn.read((tx) => tx.spaces.startUrls.length);
  for (let key = 0; key < count; key += 1) {
    for (const bad of [false, true]) {
      const values = readList(turn, ({ spaces }) => spaces.startUrls[key]![bad ? 'bad' : 'good']);
      for await (const some of inEntries(values, byteLength)) {
        yield { kind: 'seeds', key, bad, values: some.map(backupText) };
      }
    }
  }
}

async function* readFeeds(turn: Turn, withItems: boolean): AsyncIterable<BackupEntry> {
  for (const { entry, waiting } of await turn.read(backUpFeeds)) {
    // Resetting the queue alone forgets a feed only when all of it is written.
    if (!withItems && waiting > 0) continue;
    yield entry;
    const { feed, checkpoint } = entry;
    for await (const values of inEntries(readWaiting(turn, feed, checkpoint?.sequence ?? 0), textLength)) {
      yield { kind: 'outbox', feed, values };
    }
  }
}

async function* readWaiting(turn: Turn, feed: string, from: number): AsyncIterable<string[]> {
  for (let sequence = from; ; sequence += WINDOW) {
    const page = await turn.read((tx) => readOutbox(tx, feed, sequence, WINDOW));
    yield page;
    if (page.length < WINDOW) return;
  }
}

async function* readStats(turn: Turn): AsyncIterable<BackupEntry> {
  const counters = Object.entries(await turn.read(readCounters));
  for await (const values of inEntries([counters], ([name]) => name.length)) yield { kind: 'stats', values };
}

async function* readList(turn: Turn, spaceOf: (tx: Transaction) => Buffer): AsyncIterable<Buffer[]> {
  for await (const page of walk(turn, (tx) => keyOf(Table.list, spaceOf(tx)))) {
    yield page.map(({ value }) => value);
  }
}

async function* walk(turn: Turn, prefixOf: (tx: Transaction) => Buffer): AsyncIterable<Entry[]> {
  let start: Buffer | undefined;
  for (;;) {
    const from = start;
    const page = await turn.read((tx) => tx.entries(prefixOf(tx), WINDOW, from));
    yield page;
    if (page.length < WINDOW) return;
    start = behind(page.at(-1)!.key);
  }
}

/** The first key there can be after this one. */
const behind = (key: Buffer): Buffer => Buffer.concat([key, LOWEST_BYTE]);

const byteLength = (value: Buffer): number => value.length;
const textLength = (value: string): number => value.length;
