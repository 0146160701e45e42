/** The dupefilters of the embedded engine: what the seam does not show, such as clocks that jump and work in steps. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedFrontier } from '../src/frontier/embedded/embedded-frontier.js';
import { Table } from '../src/frontier/embedded/keys.js';
import { Memory } from '../src/frontier/embedded/memory.js';
import { spacesOf } from '../src/frontier/embedded/spaces.js';
import { type OpenStore, openStore } from '../src/frontier/embedded/store.js';
import { sweepSome } from '../src/frontier/embedded/sweep.js';
import { Transaction } from '../src/frontier/embedded/transaction.js';
import { Turn } from '../src/frontier/embedded/turn.js';
import type { Dupefilter, Frontier } from '../src/frontier/frontier.js';
import { request } from './frontier-contract/world.js';
import { defaultShape, openOptions } from './helpers/open-options.js';
import { type TempDir, tempDir } from './helpers/temp-dir.js';

const HOUR_MS = 3_600_000;
const compact: Dupefilter = { class: 'CompactDupeFilter' };
const timed: Dupefilter = { class: 'TimedRFPDupeFilter', expireMs: HOUR_MS };

let folder: TempDir;
let store: OpenStore;
const clients: Frontier[] = [];
beforeEach(() => {
  folder = tempDir('dupefilters');
  store = openStore(folder.dir);
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await store.close();
  await folder.remove();
});

async function open(
  dupefilter: Dupefilter,
  spider = 'news',
  key = `${spider}:dupefilter`,
): Promise<Frontier> {
  const options = openOptions(folder.dir, spider, { shape: { ...defaultShape, dupefilter } });
  const keys = { ...options.keys, dupefilter: key };
  const frontier = await EmbeddedFrontier.open({ ...options, keys }, folder.dir);
  clients.push(frontier);
  return frontier;
}

/** One transaction on the crawl, with a memory of its own unless given. */
function transact<T>(dupefilter: Dupefilter, action: (tx: Transaction) => T, memory = new Memory()): T {
  let answer: T | undefined;
  store.transact(() => {
    const tx = new Transaction(store.db, spacesOf(openOptions(folder.dir, 'news').keys), memory);
    tx.create({ ...defaultShape, dupefilter });
    answer = action(tx);
    tx.finish();
  });
  return answer as T;
}

const fingerprints = (count: number) => Array.from({ length: count }, () => randomBytes(20).toString('hex'));

/** Record what is new, as acceptance does. */
function record(tx: Transaction, all: readonly string[]): void {
  for (const one of all) {
    const isSeen = tx.dupefilter.has(one);
    if (!isSeen) tx.dupefilter.record(one, isSeen);
  }
}

const entriesIn = (table: number) => [...store.db.getKeys()].filter((key) => key[0] === table).length;

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
    expect(entriesIn(Table.seen)).toBeGreaterThan(5_000);
    for (let steps = 0; !transact(timed, (tx) => tx.dupefilter.tidy()); steps += 1)
      expect(steps).toBeLessThan(10);
    transact(timed, (tx) => {
      expect([...renewed, ...young].every((one) => tx.dupefilter.has(one))).toBe(true);
      expect(tx.dupefilter.count()).toBe(550);
      expect(tx.dupefilter.examine()).toEqual([]);
    });
    expect(entriesIn(Table.seen)).toBe(550);
  });

  it('keeps nothing longer than its time when the clock is set back, whoever remembers it', () => {
    const [all, memory] = [fingerprints(300), new Memory()];
    const startMs = Date.now();
    setClock(startMs + 1_000 * HOUR_MS);
    transact(timed, (tx) => record(tx, all), memory);
    setClock(startMs);
    transact(timed, (tx) => expect(all.every((one) => tx.dupefilter.has(one))).toBe(true));
    expect(transact(timed, (tx) => tx.dupefilter.tidy())).toBe(true);
    transact(timed, (tx) => expect(tx.dupefilter.examine()).toEqual([]));
    setClock(startMs + HOUR_MS + 2_000);
    for (const remembering of [memory, new Memory()]) {
      transact(timed, (tx) => expect(all.some((one) => tx.dupefilter.has(one))).toBe(false), remembering);
    }
    expect(transact(timed, (tx) => tx.dupefilter.tidy())).toBe(true);
    expect(entriesIn(Table.seen) + entriesIn(Table.expiry)).toBe(0);
  });
});

describe('the compact dupefilter', () => {
  it('finds and forgets each of many, through all the cutting of its buckets', () => {
    const all = fingerprints(30_000);
    for (let at = 0; at < all.length; at += 1_000) {
      transact(compact, (tx) => record(tx, all.slice(at, at + 1_000)));
    }
    transact(compact, (tx) => {
      expect(all.every((one) => tx.dupefilter.has(one))).toBe(true);
      expect(fingerprints(1_000).some((one) => tx.dupefilter.has(one))).toBe(false);
      expect(tx.dupefilter.bytes() / all.length).toBeLessThan(12);
      expect(tx.dupefilter.examine()).toEqual([]);
    });
    transact(compact, (tx) => {
      for (const one of all.slice(0, 20_000)) expect(tx.dupefilter.forget(one)).toBe(true);
      expect(tx.dupefilter.examine()).toEqual([]);
    });
    transact(compact, (tx) => {
      expect(all.filter((one) => tx.dupefilter.has(one))).toEqual(all.slice(20_000));
      expect(tx.dupefilter.count()).toBe(10_000);
    });
  });

  it('bears fingerprints that all begin alike', () => {
    const alike = fingerprints(2_000).map((one) => `00000000${one.slice(8)}`);
    transact(compact, (tx) => record(tx, alike));
    transact(compact, (tx) => {
      expect(alike.every((one) => tx.dupefilter.has(one))).toBe(true);
      expect(tx.dupefilter.examine()).toEqual([]);
      tx.dupefilter.clear();
    });
    while (!transact(compact, sweepSome));
    expect(entriesIn(Table.seen) + entriesIn(Table.piece)).toBe(0);
  });
});

describe('what a client remembers to be seen', () => {
  const zeros = '0'.repeat(40);

  it('tells fingerprints apart that share a place, however often they take it over', () => {
    const memory = new Memory();
    const alike = [...fingerprints(20).map((one) => `${one.slice(0, 36)}0000`), zeros];
    const [seen, unseen] = [alike.slice(0, 10), alike.slice(10)];
    for (let round = 0; round < 3; round += 1) {
      const has = (one: string) => transact(compact, (tx) => tx.dupefilter.has(one), memory);
      if (round === 0) transact(compact, (tx) => record(tx, seen), memory);
      expect([...alike, ...alike.toReversed()].filter(has)).toEqual([...seen, ...seen.toReversed()]);
      expect(seen.flatMap((one) => [one.toUpperCase(), one]).every(has)).toBe(true);
    }
    expect(unseen).toContain(zeros);
  });

  it('is nothing that a transaction had recorded which failed', async () => {
    const turn = new Turn(store, spacesOf(openOptions(folder.dir, 'news').keys));
    const [before, failed] = [fingerprints(10), fingerprints(10)];
    const has = (all: readonly string[]) =>
      turn.write((tx) => all.map((one) => tx.dupefilter.has(one)).filter(Boolean).length);
    await turn.write((tx) => {
      tx.create(defaultShape);
      record(tx, before);
    });
    expect(await has([...before, ...failed])).toBe(10);
    const verbs = [
      turn.write((tx) => record(tx, failed)),
      has([...before, ...failed]),
      turn.write(() => {
        throw new Error('a disk that is full');
      }),
    ];
    expect((await Promise.allSettled(verbs)).map(({ status }) => status)).toEqual(
      verbs.map(() => 'rejected'),
    );
    expect(await has(failed)).toBe(0);
    expect(await has(before)).toBe(10);
    turn.close();
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
    expect(entriesIn(Table.known)).toBeGreaterThan(15_000);
    await (await open(defaultShape.dupefilter)).recover();
    expect(entriesIn(Table.known)).toBe(1 + 10);
    expect(entriesIn(Table.garbage)).toBe(0);
    transact(defaultShape.dupefilter, (tx) => expect(tx.dupefilter.examine()).toEqual([]));
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
