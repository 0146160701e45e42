/** The dupefilters of the embedded engine: what the seam does not show, such as clocks that jump and work in steps. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Transaction } from '../../../src/frontier/embedded/base/transaction.js';
import { sweepSome } from '../../../src/frontier/embedded/crawl/sweep.js';
import { openEmbedded } from '../../../src/frontier/embedded/embedded-frontier.js';
import { type Database, openDatabase } from '../../../src/frontier/embedded/file/database.js';
import type { Dupefilter, Frontier } from '../../../src/frontier/frontier.js';
import { request } from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

const HOUR_MS = 3_600_000;
const timed: Dupefilter = { class: 'TimedRFPDupeFilter', expireMs: HOUR_MS };

let folder: TempDir;
let database: Database;
const clients: Frontier[] = [];
beforeEach(() => {
  folder = tempDir('dupefilters');
  database = openDatabase(folder.dir);
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await database.close();
  await folder.remove();
});

async function open(
  dupefilter: Dupefilter,
  spider = 'news',
  key = `${spider}:dupefilter`,
): Promise<Frontier> {
  const options = openOptions(folder.dir, spider, { shape: { ...defaultShape, dupefilter } });
  const keys = { ...options.keys, dupefilter: key };
  const frontier = await openEmbedded({ ...options, keys }, folder.dir);
  clients.push(frontier);
  return frontier;
}

/** One transaction on the crawl. */
function transact<T>(dupefilter: Dupefilter, action: (tx: Transaction) => T): T {
  const { connection } = database.writable;
  connection.exec('BEGIN IMMEDIATE');
  const tx = new Transaction(database.writable, openOptions(folder.dir, 'news').keys);
  tx.create({ ...defaultShape, dupefilter });
  const answer = action(tx);
  tx.finish();
  connection.exec('COMMIT');
  return answer;
}

const fingerprints = (count: number) => Array.from({ length: count }, () => randomBytes(20));

/** Record what is new, as acceptance does. */
function record(tx: Transaction, all: readonly Buffer[]): void {
  for (const one of all) if (!tx.dupefilter.has(one)) tx.dupefilter.record(one, false);
}

const rowsIn = (table: string) =>
  (database.writable.connection.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;

/** Only the clock is replaced. */
const setClock = (atMs: number) => vi.useFakeTimers({ now: atMs, toFake: ['Date'] });

describe('the timed dupefilter', () => {
  it('deletes what has come due a bounded step at a time, and nothing else', () => {
    const [old, renewed, young] = [fingerprints(12_000), fingerprints(50), fingerprints(500)];
    const startMs = Date.now();
    setClock(startMs);
    transact(timed, (tx) => record(tx, [...old, ...renewed]));
    setClock(startMs + HOUR_MS / 2);
    transact(timed, (tx) => {
      record(tx, young);
      for (const one of renewed) tx.dupefilter.record(one, true);
    });
    setClock(startMs + HOUR_MS + 1);
    transact(timed, (tx) => expect(old.some((one) => tx.dupefilter.has(one))).toBe(false));
    expect(transact(timed, (tx) => tx.dupefilter.tidy())).toBe(false);
    expect(rowsIn('seen_timed')).toBeGreaterThan(5_000);
    for (let steps = 0; !transact(timed, (tx) => tx.dupefilter.tidy()); steps += 1)
      expect(steps).toBeLessThan(10);
    transact(timed, (tx) => {
      expect([...renewed, ...young].every((one) => tx.dupefilter.has(one))).toBe(true);
      expect(tx.dupefilter.count()).toBe(550);
    });
    expect(rowsIn('seen_timed')).toBe(550);
  });

  it('keeps nothing longer than its time when the clock is set back', () => {
    const all = fingerprints(300);
    const startMs = Date.now();
    setClock(startMs + 1_000 * HOUR_MS);
    transact(timed, (tx) => record(tx, all));
    setClock(startMs);
    transact(timed, (tx) => expect(all.every((one) => tx.dupefilter.has(one))).toBe(true));
    expect(transact(timed, (tx) => tx.dupefilter.tidy())).toBe(true);
    setClock(startMs + HOUR_MS + 2_000);
    transact(timed, (tx) => expect(all.some((one) => tx.dupefilter.has(one))).toBe(false));
    expect(transact(timed, (tx) => tx.dupefilter.tidy())).toBe(true);
    expect(rowsIn('seen_timed')).toBe(0);
  });
});

describe('the compact dupefilter', () => {
  it('keeps the first 64 bits to the last of them, signed or not', () => {
    const compact: Dupefilter = { class: 'CompactDupeFilter' };
    const heads = [
      '0000000000000000',
      '7fffffffffffffff',
      '8000000000000000',
      'ffffffffffffffff',
      '0020000000000001',
    ];
    const [seen, near] = [heads, heads.map((head) => `${head.slice(0, 15)}e`)].map((all) =>
      all.map((head) => Buffer.from(head.padEnd(40, '5'), 'hex')),
    ) as [Buffer[], Buffer[]];
    transact(compact, (tx) => record(tx, seen));
    transact(compact, (tx) => {
      expect(seen.every((one) => tx.dupefilter.has(one))).toBe(true);
      expect(near.some((one) => tx.dupefilter.has(one))).toBe(false);
      expect(tx.dupefilter.open()?.forget(seen[3]!)).toBe(true);
      expect(tx.dupefilter.count()).toBe(4);
    });
  });
});

describe.each<Dupefilter>([
  { class: 'RFPDupeFilter' },
  timed,
  { class: 'StateDupeFilter' },
  { class: 'BloomDupeFilter', capacity: 100_000, errorRate: 0.001 },
  { class: 'CompactDupeFilter' },
])('what $class says that it takes', (dupefilter) => {
  it('is what it takes in the file, within a quarter', () => {
    for (let n = 0; n < 40; n += 1) transact(dupefilter, (tx) => record(tx, fingerprints(1_000)));
    const said = transact(dupefilter, (tx) => tx.dupefilter.bytes());
    const { n } = database.writable.connection
      .prepare("SELECT sum(pgsize) AS n FROM dbstat WHERE name LIKE '%seen%'")
      .get() as { n: number };
    expect(said / n).toBeGreaterThan(0.75);
    expect(said / n).toBeLessThan(1.25);
  });
});

describe('a dupefilter that is cleared', () => {
  it('is empty at once, and what it held is deleted bit by bit, also by others', async () => {
    const all = fingerprints(25_000);
    transact(defaultShape.dupefilter, (tx) => record(tx, all));
    transact(defaultShape.dupefilter, (tx) => {
      tx.dupefilter.clear();
      record(tx, all.slice(0, 10));
    });
    transact(defaultShape.dupefilter, (tx) => expect(tx.dupefilter.count()).toBe(10));
    expect(transact(defaultShape.dupefilter, sweepSome)).toBe(false);
    expect(rowsIn('seen')).toBeGreaterThan(15_000);
    await (await open(defaultShape.dupefilter)).recover();
    expect(rowsIn('seen')).toBe(10);
  });
});

describe('a dupefilter whose key two crawls share', () => {
  it('knows what both have accepted, and is of one class', async () => {
    const news = await open({ class: 'CompactDupeFilter' }, 'news', 'shared:dupefilter');
    const blog = await open({ class: 'CompactDupeFilter' }, 'blog', 'shared:dupefilter');
    await news.push([request('a')], 'links');
    expect(await blog.push([request('a'), request('b')], 'links')).toMatchObject({
      accepted: 1,
      duplicates: 1,
    });
    const other = await open({ class: 'RFPDupeFilter' }, 'other', 'shared:dupefilter');
    await expect(other.push([request('c')], 'links')).rejects.toMatchObject({ code: 'shape' });
    expect(await news.verify()).toEqual([]);
  });
});
