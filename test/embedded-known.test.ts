/** What is known of ids in the embedded engine, where fingerprints and live requests share an entry. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clear } from '../src/frontier/embedded/clear.js';
import { EmbeddedFrontier } from '../src/frontier/embedded/embedded-frontier.js';
import { HEAD_BYTES, keyOf, requestKey, Table } from '../src/frontier/embedded/keys.js';
import { decodeKnown, encodeKnown } from '../src/frontier/embedded/known.js';
import { decodeLedger, encodeLedger, newLedger } from '../src/frontier/embedded/ledger.js';
import { Memory } from '../src/frontier/embedded/memory.js';
import { spacesOf } from '../src/frontier/embedded/spaces.js';
import { type OpenStore, openStore } from '../src/frontier/embedded/store.js';
import { sweepSome } from '../src/frontier/embedded/sweep.js';
import { Transaction } from '../src/frontier/embedded/transaction.js';
import { allParts, type Dupefilter, type Frontier, type Part } from '../src/frontier/frontier.js';
import { commit, done, effects, failed, nameOf, request, take, takeOne } from './frontier-contract/world.js';
import { joinAs } from './helpers/joining.js';
import { defaultShape, openOptions } from './helpers/open-options.js';
import { type TempDir, tempDir } from './helpers/temp-dir.js';

let folder: TempDir;
let store: OpenStore;
const clients: Frontier[] = [];
beforeEach(() => {
  folder = tempDir('known');
  store = openStore(folder.dir);
});
afterEach(async () => {
  const closing = clients.splice(0);
  try {
    for (const client of closing) expect(await client.verify()).toEqual([]);
  } finally {
    await Promise.all(closing.map((client) => client.close()));
    await store.close();
    await folder.remove();
  }
});

interface Choice {
  readonly spider?: string;
  /** The dupefilter's key. */
  readonly key?: string;
  readonly dupefilter?: Dupefilter;
}

function optionsFor({ spider = 'news', key, dupefilter = defaultShape.dupefilter }: Choice) {
  const options = openOptions(folder.dir, spider, { shape: { ...defaultShape, dupefilter } });
  return { ...options, keys: { ...options.keys, dupefilter: key ?? options.keys.dupefilter } };
}

async function open(choice: Choice = {}): Promise<Frontier> {
  const frontier = await EmbeddedFrontier.open(optionsFor(choice), folder.dir);
  clients.push(frontier);
  return frontier;
}

async function node(choice: Choice = {}): Promise<Frontier> {
  const frontier = await open(choice);
  await joinAs(frontier, { shape: { dupefilter: choice.dupefilter ?? defaultShape.dupefilter } });
  return frontier;
}

/** One transaction on a crawl. */
function transact<T>(action: (tx: Transaction) => T, choice: Choice = {}): T {
  let answer: T | undefined;
  store.transact(() => {
    const tx = new Transaction(store.db, spacesOf(optionsFor(choice).keys), new Memory());
    answer = action(tx);
    tx.finish();
  });
  return answer as T;
}

/** As a process does that is killed before it has swept. */
const clearAndDie = (parts: readonly Part[], choice: Choice = {}) =>
  transact((tx) => clear(tx, new Set(parts), true), choice);

const entriesIn = (table: number) => [...store.db.getKeys()].filter((key) => key[0] === table).length;
/** Without those that say who has claimed the marks. */
const idsKnown = () =>
  [...store.db.getKeys()].filter((key) => key[0] === Table.known && key.length > HEAD_BYTES).length;

const knownKey = (space: Buffer, name: string) =>
  keyOf(Table.known, space, Buffer.from(request(name).id, 'hex'));

const many = (count: number, prefix = 'p') =>
  Array.from({ length: count }, (_, n) => request(`${prefix}${n}`));
const seen = async (frontier: Frontier) => (await frontier.snapshot()).seen;

describe('an entry of an id', () => {
  it('is as it was written, whatever it holds', () => {
    for (const number of [0, 1, 0xff, 2 ** 40, 2 ** 48 - 1]) {
      for (const generation of [0, 1, 0xff, 0x100, 0xffff, 0x1_0000, 2 ** 32 - 1]) {
        const value = encodeKnown({ number, generation });
        expect(decodeKnown(value)).toEqual({ number, generation });
      }
    }
  });
});

describe('requests of all lengths', () => {
  it('come back as they were, whatever is written in between', async () => {
    const frontier = await node();
    const texts = ['', 'é', '🦊', 'x'].flatMap((letter) =>
      [0, 1, 20, 400, 1_300, 1_400, 1_700, 4_000, 20_000].map((length) => letter.repeat(length)),
    );
    const made = texts.flatMap((text, n) =>
      ['a.example', 'bücher.example', 'd'.repeat(300)].map((domain) => ({
        ...request(`${n} of ${domain}`, { domain }),
        record: `{"u":"${text}"}`,
      })),
    );
    const [first, second] = [made.slice(0, made.length / 2), made.slice(made.length / 2)];
    await Promise.all([frontier.push(first, 'links'), frontier.push(many(50), 'links')]);
    const found = new Map<string, string>();
    const settled: Promise<unknown>[] = [];
    const note = (leases: Awaited<ReturnType<typeof take>>) => {
      for (const { id, record, domain } of leases) found.set(id, `${domain} ${record}`);
      return leases;
    };
    // In one transaction: leases that read, a push that writes, and settles that write and delete.
    const some = note(await take(frontier, 40));
    for (const lease of some) settled.push(commit(frontier, lease));
    settled.push(frontier.push(second, 'links'));
    await Promise.all(settled);
    for (const lease of note(await take(frontier, made.length + 50 - 40))) await commit(frontier, lease);
    for (const { id, record, domain } of made) expect(found.get(id)).toBe(`${domain} ${record}`);
  });
});

describe('what is known of an id', () => {
  it('is one entry from its acceptance to the reset, and goes with an unfiltered request', async () => {
    const frontier = await node();
    await frontier.push([...many(3), request('p0', { unfiltered: true })], 'links');
    expect(idsKnown()).toBe(4);
    for (const lease of await take(frontier, 4)) await commit(frontier, lease);
    expect(idsKnown()).toBe(3);
    expect(await frontier.push([request('P0'), ...many(3)], 'links')).toMatchObject({
      accepted: 1,
      duplicates: 3,
    });
  });

  it('goes with the request under a dupefilter that keeps fingerprints elsewhere', async () => {
    const frontier = await node({ dupefilter: { class: 'CompactDupeFilter' } });
    await frontier.push(many(5), 'links');
    expect(idsKnown()).toBe(5);
    const [first, ...others] = await take(frontier, 5);
    await commit(frontier, first!, failed());
    for (const lease of others) await commit(frontier, lease);
    expect(idsKnown()).toBe(1);
    await frontier.failed.purge([first!.id]);
    expect(idsKnown()).toBe(0);
  });

  it('is gone once a request ends that was forgotten while it was live', async () => {
    const frontier = await node();
    await frontier.push(many(4), 'links');
    const [one, two] = await take(frontier, 2);
    for (const { id } of many(4)) expect(await frontier.forget(id)).toBe(true);
    expect(await frontier.forget(one!.id)).toBe(false);
    expect(await frontier.push(many(4), 'links')).toMatchObject({ accepted: 0, duplicates: 4 });
    await commit(frontier, one!);
    await commit(frontier, two!, failed());
    expect(idsKnown()).toBe(3);
    await frontier.clear(['failed'], { force: true });
    expect(idsKnown()).toBe(2);
    expect(await frontier.push([request(nameOf(one!))], 'links')).toMatchObject({ accepted: 1 });
  });

  it('is the same whether digits are written large or small', async () => {
    const frontier = await node();
    const large = many(2).map((one) => ({
      ...one,
      id: one.id.toUpperCase(),
      fingerprint: one.id.toUpperCase(),
    }));
    expect(await frontier.push([large[0]!, ...many(2), large[1]!], 'links')).toMatchObject({ accepted: 2 });
    for (const lease of await take(frontier, 2)) await commit(frontier, lease);
    expect(await frontier.forget(large[0]!.id)).toBe(true);
    expect(await frontier.inspect(large[1]!)).toMatchObject({ state: 'seen' });
  });
});

describe('a dupefilter that is cleared', () => {
  it.each([
    ['and filled again', [] as Part[]],
    ['together with the queue', ['queue', 'failed'] as Part[]],
  ])('%s keeps what is new and loses what is old, however often sweeping breaks off', async (_, parts) => {
    const frontier = await open();
    await frontier.push(many(12_500), 'links');
    for (const [round, name] of ['x', 'y', 'z'].entries()) {
      clearAndDie(['dupefilter', ...parts]);
      expect(await seen(frontier)).toBe(0);
      await frontier.push([...many(3, name), ...many(2)], 'links');
      expect(await seen(frontier)).toBe(parts.length === 0 ? 3 : 5);
      expect(transact(sweepSome)).toBe(false);
      expect(await frontier.verify()).toEqual([]);
      expect(await frontier.push(many(3, name), 'links')).toMatchObject({ duplicates: 3 });
      expect((await frontier.snapshot()).pending).toBe(parts.length === 0 ? 12_500 + 3 * (round + 1) : 5);
    }
    while (!transact(sweepSome));
    expect(await frontier.push([...many(3, 'z'), ...many(12_500)], 'links')).toMatchObject({
      duplicates: parts.length === 0 ? 12_503 : 5,
    });
    await frontier.clear(allParts, { force: false });
    expect(entriesIn(Table.known) + entriesIn(Table.request) + entriesIn(Table.garbage)).toBe(0);
  });

  it('is followed by one of another class and then by its like, with requests that live through it', async () => {
    const rfp = await node();
    await rfp.push(many(20), 'links');
    const held = await take(rfp, 3);
    await rfp.leave('shutdown');
    await rfp.clear(['dupefilter'], { force: false });
    const compact = await node({ dupefilter: { class: 'CompactDupeFilter' } });
    expect(await compact.push([...many(20), ...many(2, 'c')], 'links')).toMatchObject({ accepted: 2 });
    for (const lease of await take(compact, 4)) await commit(compact, lease);
    expect(idsKnown()).toBe(18);
    await compact.leave('shutdown');
    await compact.clear(['dupefilter'], { force: false });
    const again = await node();
    expect(await again.push(many(20), 'links')).toMatchObject({ accepted: 4, duplicates: 16 });
    expect(await again.settle(held[0]!, done, effects({}))).toEqual({ committed: false });
    for (const lease of await take(again, 22)) await commit(again, lease);
    // Those that were accepted before bear no mark, and are new again.
    expect(idsKnown()).toBe(4);
    expect(await again.push(many(20), 'links')).toMatchObject({ accepted: 16, duplicates: 4 });
  });
});

describe('a queue that is cleared alone', () => {
  it('leaves the fingerprints, and of the unfiltered and the forgotten nothing', async () => {
    const frontier = await open();
    await frontier.push(many(10), 'links');
    await frontier.push([request('p1', { unfiltered: true }), request('u', { unfiltered: true })], 'links');
    await frontier.forget(request('p3').id);
    await frontier.clear(['queue', 'failed'], { force: false });
    expect(await frontier.snapshot()).toMatchObject({ pending: 0, seen: 9 });
    expect(idsKnown()).toBe(9);
    expect(await frontier.push([...many(10), request('u', { unfiltered: true })], 'links')).toMatchObject({
      accepted: 2,
    });
    expect((await frontier.inspect(request('p3'))).state).toBe('pending');
    expect((await frontier.inspect(request('p0'))).state).toBe('seen');
  });

  it('goes on numbering behind the failed requests that it leaves', async () => {
    const frontier = await node();
    await frontier.push(many(6), 'links');
    const leases = await take(frontier, 5);
    for (const lease of leases.slice(0, 4)) await commit(frontier, lease, failed());
    await frontier.leave('shutdown');
    await frontier.clear(['queue', 'dupefilter'], { force: false });
    await frontier.push(many(8, 'n'), 'links');
    expect(await frontier.snapshot()).toMatchObject({ pending: 8, failed: 4 });
    const { requests } = await frontier.failed.list(null, 10);
    expect(requests.map(nameOf).sort()).toEqual(leases.slice(0, 4).map(nameOf).sort());
    expect(
      await frontier.push(
        leases.slice(0, 4).map((lease) => request(nameOf(lease))),
        'seeds',
      ),
    ).toMatchObject({
      accepted: 4,
    });
  });
});

describe('a dupefilter that crawls share', () => {
  const [news, blog] = [
    { spider: 'news', key: 'shared' },
    { spider: 'blog', key: 'shared' },
  ];

  it('knows what both have accepted, and each has its own requests of one id', async () => {
    const [one, two] = [await node(news), await node(blog)];
    await one.push(many(3), 'links');
    expect(await two.push(many(4), 'links')).toMatchObject({ accepted: 1, duplicates: 3 });
    expect(await two.push(many(2), 'seeds')).toMatchObject({ accepted: 2 });
    expect([await seen(one), await seen(two)]).toEqual([4, 4]);
    const leases = [await take(one, 3), await take(two, 3)];
    expect(leases.map((some) => some.map(nameOf).sort())).toEqual([
      ['p0', 'p1', 'p2'],
      ['p0', 'p1', 'p3'],
    ]);
    for (const lease of leases[0]!) await commit(one, lease);
    for (const lease of leases[1]!) await commit(two, lease);
    expect(await two.forget(request('p0').id)).toBe(true);
    expect(await one.push(many(5), 'links')).toMatchObject({ accepted: 2, duplicates: 3 });
  });

  it.each([
    ['the one among whose requests it lies', news],
    ['the other', blog],
  ])('is cleared by %s for both', async (_, by) => {
    const [one, two] = [await open(news), await open(blog)];
    await one.push(many(5), 'links');
    await two.push(many(7), 'links');
    await two.push([request('p0')], 'seeds');
    await (by === news ? one : two).clear(['dupefilter'], { force: false });
    expect([await seen(one), await seen(two)]).toEqual([0, 0]);
    expect(idsKnown()).toBe(5 + 3);
    expect(await two.push(many(7), 'links')).toMatchObject({ accepted: 4, duplicates: 3 });
    expect(await one.push(many(7), 'links')).toMatchObject({ accepted: 2, duplicates: 5 });
    await one.clear(['queue'], { force: false });
    expect(await two.snapshot()).toMatchObject({ pending: 7, seen: 6 });
    await two.clear(allParts, { force: false });
    await one.clear(allParts, { force: false });
    expect([...store.db.getKeys()]).toEqual([]);
  });
});

describe('a crawl whose settings name another dupefilter', () => {
  it('keeps its requests and both dupefilters', async () => {
    const first = await open({ key: 'first' });
    await first.push(many(4), 'links');
    const second = await node({ key: 'second' });
    expect(await second.push(many(5), 'links')).toMatchObject({ accepted: 1, duplicates: 4 });
    expect(await second.push(many(5), 'seeds')).toMatchObject({ duplicates: 5 });
    expect([await seen(first), await seen(second)]).toEqual([4, 1]);
    for (const lease of await take(second, 5)) await commit(second, lease);
    expect(await second.push(many(5), 'links')).toMatchObject({ accepted: 4, duplicates: 1 });
    await second.leave('shutdown');
    await second.clear(['queue'], { force: false });
    expect(await first.push(many(5), 'links')).toMatchObject({ accepted: 1, duplicates: 4 });
    await first.clear(['dupefilter'], { force: false });
    expect([await seen(first), await seen(second)]).toEqual([0, 5]);
    expect(await second.push(many(5), 'links')).toMatchObject({ accepted: 0 });
  });

  it('is swept also when the one that was cleared is not named any more', async () => {
    const first = await node({ key: 'first' });
    await first.push(many(4), 'links');
    await commit(first, await takeOne(first));
    clearAndDie(['dupefilter'], { key: 'first' });
    await first.leave('shutdown');
    const second = await node({ key: 'second' });
    await second.push(many(2, 'n'), 'links');
    expect(await second.verify()).toEqual([]);
    await second.recover();
    expect(idsKnown()).toBe(3 + 2);
  });
});

describe('a dupefilter of data format 3', () => {
  const oldShared = { spider: 'news', key: 'shared' };
  beforeEach(() => {
    const { dupefilter } = spacesOf(optionsFor(oldShared).keys);
    const ledger = { ...newLedger({ class: 'RFPDupeFilter' }), count: 2 };
    store.transact(() => {
      store.db.putSync(keyOf(Table.ledger, dupefilter), encodeLedger(ledger));
      for (let n = 0; n < 2; n += 1)
        store.db.putSync(keyOf(Table.seen, ledger.space, randomBytes(20)), Buffer.alloc(0));
    });
  });

  it('is refused by a crawl that shares it, and reset deletes it', async () => {
    await expect(open(oldShared)).rejects.toMatchObject({ code: 'format' });
    const frontier = await EmbeddedFrontier.open(
      { ...optionsFor(oldShared), acceptForeignKeys: true },
      folder.dir,
    );
    clients.push(frontier);
    expect((await frontier.examine()).find(({ check }) => check === 'format')).toMatchObject({
      level: 'problem',
    });
    expect(await frontier.count()).toMatchObject({ dupefilter: 2 });
    await frontier.clear(allParts, { force: false });
    expect([...store.db.getKeys()]).toEqual([]);
    expect(await (await open(oldShared)).push(many(2), 'links')).toMatchObject({ accepted: 2 });
  });
});

describe('verify and repair', () => {
  const { crawl } = spacesOf(openOptions('', 'news').keys);

  async function filled(): Promise<Frontier> {
    const frontier = await node();
    await frontier.push(many(6), 'links');
    await commit(frontier, await takeOne(frontier), failed());
    await commit(frontier, await takeOne(frontier));
    await frontier.leave('shutdown');
    return frontier;
  }

  const damages: [string, string, (tx: Transaction) => void][] = [
    [
      'an id that leads nowhere',
      'I1: 1 ids are known that are neither live nor seen',
      (tx) => tx.put(knownKey(crawl, 'x'), encodeKnown({ number: 99, generation: 0 })),
    ],
    [
      'an id that leads to another request',
      `I1: ${request('p3').id} is pending but not found by its id, or twice`,
      (tx) => tx.put(knownKey(crawl, 'p3'), encodeKnown({ number: 5, generation: 1 })),
    ],
    [
      'a request that is there twice',
      'not found by its id, or twice',
      (tx) => tx.put(requestKey(crawl, 50), tx.get(requestKey(crawl, 4))!),
    ],
  ];

  it.each(damages)('find and mend %s', async (_, breach, damage) => {
    const frontier = await filled();
    transact(damage);
    expect(await frontier.verify()).toContainEqual(expect.stringContaining(breach));
    expect(await frontier.repair(() => null, { force: false })).toEqual({
      pending: 4,
      delayed: 0,
      failed: 1,
    });
    expect(await frontier.verify()).toEqual([]);
    await joinAs(frontier);
    const leases = await take(frontier, 4);
    expect(leases.map(nameOf).sort()).toEqual(['p2', 'p3', 'p4', 'p5']);
    for (const lease of leases) await commit(frontier, lease);
  });

  it('find what is known gone, and have all that is live found again', async () => {
    const frontier = await filled();
    transact((tx) => tx.wipe(Table.known, crawl));
    expect(await frontier.verify()).toHaveLength(6);
    await frontier.repair(() => null, { force: false });
    expect(await frontier.snapshot()).toMatchObject({ pending: 4, failed: 1, seen: 0 });
    expect(await frontier.push(many(6), 'links')).toMatchObject({ accepted: 1, duplicates: 5 });
    await joinAs(frontier);
    for (const lease of await take(frontier, 5)) await commit(frontier, lease);
  });

  it('numbers what comes after the counters are lost behind what is there', async () => {
    const frontier = await filled();
    transact((tx) => tx.delete(keyOf(Table.state, crawl)));
    await frontier.repair(() => null, { force: false });
    await frontier.push(many(9), 'links');
    expect(await frontier.snapshot()).toMatchObject({ pending: 7, failed: 1 });
  });

  it('leave the ledger as it was', async () => {
    const frontier = await filled();
    const ledger = () =>
      decodeLedger(store.db.get(keyOf(Table.ledger, spacesOf(optionsFor({}).keys).dupefilter))!);
    const before = ledger();
    await frontier.repair(() => null, { force: false });
    store.refresh();
    expect(ledger()).toEqual(before);
  });
});
