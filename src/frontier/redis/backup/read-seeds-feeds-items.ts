/** Reads seeds, feeds and their outboxes, items and counters of a crawl in Redis for a backup. */
import { STAT_PREFIX, type StatValue } from '../../../stats/stat-change.js';
import { type BackupEntry, type BackupSeed, backupText, inEntries, seedOf } from '../../backup/entry.js';
import type { FrontierKeys } from '../../open-options.js';
import { type Ask, pairs, walk } from '../connection/scan.js';
import { readFeeds } from '../feeds/outbox.js';
import { badSeedsKey, internalKey } from '../keys.js';
import { statOf } from '../stored-stats.js';

/** Values of one reply. Such a command takes well below a ms. */
const WINDOW = 500;

export async function* readSeeds(ask: Ask, keys: FrontierKeys): AsyncIterable<BackupEntry> {
  for (const [key, name] of keys.startUrls.entries()) {
    for (const bad of [false, true]) {
      const pages = seeds(ask, bad ? badSeedsKey(name) : name);
      for await (const values of inEntries(pages, (seed) => seedOf(seed).value.length)) {
        yield { kind: 'seeds', key, bad, values };
      }
    }
  }
}

/** The seeds in the order of their intake. */
async function* seeds(ask: Ask, name: string): AsyncIterable<BackupSeed[]> {
  const type = await ask((client) => client.type(name));
  // The entries of a stream stay in a reset, and belong to their producers.
  if (type === 'stream') return;
  if (type === 'set') {
    const pages = walk(ask, (client, cursor) => client.sscanBuffer(name, cursor, 'COUNT', WINDOW));
    for await (const page of pages) yield page.map(backupText);
  } else if (type === 'zset') {
    for (let at = 0; ; at += WINDOW) {
      const page = await ask((client) => client.zrevrangeBuffer(name, at, at + WINDOW - 1, 'WITHSCORES'));
      yield pairs(page).map(([value, score]) => ({ seed: backupText(value), score: Number(score) }));
      if (page.length < 2 * WINDOW) return;
    }
  } else {
    for await (const page of readList(ask, name)) yield page.map(backupText);
  }
}

/** Without items, only completely written feeds, since a reset of the queue deletes no others. */
export async function* readFeedEntries(
  ask: Ask,
  keys: FrontierKeys,
  withItems: boolean,
): AsyncIterable<BackupEntry> {
  for (const { feed, record, last } of await readFeeds(ask, keys)) {
    const { host, path, format, sequence, lengthBytes = 0, header = '', exporting = false } = record;
    const written = sequence ?? 0;
    if (!withItems && last > written) continue;
    const checkpoint = sequence === undefined ? null : { sequence, lengthBytes, header };
    yield { kind: 'feed', feed, host, path, ...(format && { format }), exporting, checkpoint };
    const pages = outbox(ask, internalKey(keys, 'outbox'), feed, written, last);
    for await (const values of inEntries(pages, byteLength)) {
      yield { kind: 'outbox', feed, values: values.map(backupText) };
    }
  }
}

async function* outbox(
  ask: Ask,
  key: string,
  feed: string,
  from: number,
  last: number,
): AsyncIterable<Buffer[]> {
  for (let at = from + 1; at <= last; at += WINDOW) {
    const fields = Array.from({ length: Math.min(WINDOW, last - at + 1) }, (_, n) => `${feed}:${at + n}`);
    const items = await ask((client) => client.hmgetBuffer(key, ...fields));
    yield items.filter((item) => item !== null);
  }
}

export async function* readStats(ask: Ask, { stats }: FrontierKeys): AsyncIterable<BackupEntry> {
  for await (const page of walk(ask, (client, cursor) => client.hscan(stats, cursor, 'COUNT', WINDOW))) {
    const values = pairs(page)
      .map(([name, text]): [string, StatValue] => [name, statOf(text)])
      .filter(([name, value]) => name.startsWith(STAT_PREFIX) || Number.isSafeInteger(value));
    if (values.length > 0) yield { kind: 'stats', values };
  }
}

/** The values of a LIST, in pages. */
export async function* readList(ask: Ask, name: string): AsyncIterable<Buffer[]> {
  for (let at = 0; ; at += WINDOW) {
    const page = await ask((client) => client.lrangeBuffer(name, at, at + WINDOW - 1));
    yield page;
    if (page.length < WINDOW) return;
  }
}

const byteLength = (value: Buffer): number => value.length;
