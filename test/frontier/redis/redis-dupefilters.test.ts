/** The dupefilters in Redis: how they lie there, what a hand or a clock can do to them, and that no key stays behind. */
import { describe, expect, it } from 'vitest';
import { allParts, type Dupefilter, type Frontier } from '../../../src/frontier/frontier.js';
import { pushAll } from '../../frontier-contract/dupefilters.js';
import { Crawl, request, sha1, until } from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { openRedis, redisWorld } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();

const DAY_MS = 86_400_000;

/** A crawl with a dupefilter; `key` is the dupefilter's. */
async function inCrawl(
  dupefilter: Dupefilter,
  body: (crawl: Crawl, key: string, spider: string) => Promise<void>,
): Promise<void> {
  const world = redisWorld(server.url);
  const crawl = new Crawl(world, { dupefilter });
  try {
    await body(crawl, `${world.spider}:dupefilter`, world.spider);
  } finally {
    await crawl.end();
  }
}

const open = (spider: string, dupefilter: Dupefilter, url = server.url) =>
  openRedis(url, spider, { shape: { ...defaultShape, dupefilter } });

describe('a dupefilter in Redis', { timeout: 60_000 }, () => {
  it('of the class RFPDupeFilter is the set of Scrapy-Redis, one filled there included', () =>
    inCrawl({ class: 'RFPDupeFilter' }, async (crawl, key) => {
      await admin.sadd(key, sha1('old'));
      const frontier = await crawl.outsider();
      expect(await frontier.push([request('old'), request('new')], 'links')).toMatchObject({ accepted: 1 });
      expect((await admin.smembers(key)).sort()).toEqual([sha1('old'), sha1('new')].sort());
    }));

  it('is refused where its key holds what another class wrote, and the key and the way out are named', async () => {
    await admin.sadd('left:dupefilter', sha1('a'));
    for (const name of ['StateDupeFilter', 'CompactDupeFilter'] as const) {
      await expect(open('left', { class: name })).rejects.toMatchObject({
        code: 'foreign_key',
        message: expect.stringMatching(
          `left:dupefilter is a SET, as RFPDupeFilter and Scrapy-Redis keep it.*${name}.*reset`,
        ),
      });
    }
    await admin.del('left:dupefilter');
  });

  it('of the class CompactDupeFilter forgets a lost request from its id alone, whatever its first 64 bits', () =>
    inCrawl({ class: 'CompactDupeFilter' }, async (crawl, key, spider) => {
      const firsts = ['0000000000000000', '0000000000000001', '000000003b9aca00', '7fffffffffffffff'];
      const negative = ['8000000000000000', '80000000ffffffff', 'ffffffff00000000', 'ffffffffffffffff'];
      const random = Array.from({ length: 200 }, (_, n) => sha1(String(n)).slice(0, 16));
      const requests = [...firsts, ...negative, ...random].map((first) => {
        const id = first.padEnd(40, '5');
        return { ...request(first), id, fingerprint: id };
      });
      const { frontier } = await crawl.node();
      await frontier.push(requests, 'links');
      await admin.hdel(`${spider}:requests`, ...requests.map(({ id }) => Buffer.from(id, 'hex')));
      await frontier.lease(1_000, 0);
      expect(await frontier.snapshot()).toMatchObject({ lost: requests.length, seen: 0 });
      expect(await admin.hget(`${key}:~index`, 'seen')).toBe('0');
    }));

  it.each<Dupefilter>([
    { class: 'BloomDupeFilter', capacity: 500, errorRate: 0.001 },
    { class: 'CompactDupeFilter' },
  ])('of many keys leaves none behind: %j', (dupefilter) =>
    inCrawl(dupefilter, async (crawl, key) => {
      const frontier = await crawl.outsider();
      await pushAll(frontier, 3_000);
      expect((await admin.keys(`${key}:~piece:*`)).length).toBeGreaterThan(5);
      await frontier.clear(['dupefilter'], { force: false });
      expect(await admin.keys(`${key}*`)).toEqual([]);
      await pushAll(frontier, 3_000);
      await frontier.clear(allParts, { force: false });
      expect(await admin.keys(`${key.split(':')[0]}:*`)).toEqual([]);
    }),
  );

  it('that was cleared by a client which then died is swept by the next to join', () =>
    inCrawl({ class: 'CompactDupeFilter' }, async (crawl, key) => {
      const frontier = await crawl.outsider();
      await pushAll(frontier, 3_000);
      // What the client that died did not come to: its pieces stand noted as garbage.
      const { generation = '', pieces = '' } = await admin.hgetall(`${key}:~index`);
      await admin.multi().hset(`${key}:~garbage`, generation, pieces).del(`${key}:~index`).exec();
      expect(await frontier.push([request('page-1')], 'links')).toMatchObject({ duplicates: 1 });
      const node = await crawl.node();
      expect((await admin.keys(`${key}:~*`)).length).toBeLessThanOrEqual(2);
      expect(await admin.exists(`${key}:~garbage`)).toBe(0);
      expect((await node.frontier.snapshot()).seen).toBeLessThanOrEqual(1);
    }));

  it('says in doctor --deep when somebody deleted part of it, or gave it a time to live', async () => {
    const world = redisWorld(server.url);
    const frontier = await world.client({ dupefilter: { class: 'CompactDupeFilter' } });
    const key = `${world.spider}:dupefilter`;
    await pushAll(frontier, 1_000);
    const [one = '', two = ''] = await admin.keys(`${key}:~piece:*`);
    await admin.del(one);
    await admin.expire(two, 1_000);
    expect(await frontier.verify()).toEqual([
      'I4: 1 pieces of the dupefilter are gone, and what they knew',
      'I8: 1 keys of the dupefilter have a time to live',
    ]);
    const { losses } = await frontier.repair(() => null, { force: false });
    expect(losses).toEqual([expect.stringMatching(/:dupefilter: \d+ fingerprints$/)]);
    const { seen, seenGone } = await frontier.snapshot();
    expect(seenGone).toBeGreaterThan(0);
    expect(seen + seenGone).toBe(1_000);
    expect(await frontier.verify()).toEqual([]);
    await world.dispose();
  });

  it('of which a chunk was deleted forgets what it knew, and goes on after a repair', async () => {
    const world = redisWorld(server.url);
    const dupefilter: Dupefilter = { class: 'BloomDupeFilter', capacity: 200_000, errorRate: 0.001 };
    const frontier = await world.client({ dupefilter });
    const key = `${world.spider}:dupefilter`;
    await pushAll(frontier, 2_000);
    const generation = (await admin.hget(`${key}:~index`, 'generation')) ?? '';
    await admin.del(`${key}:~piece:${generation}:0`);
    expect(await frontier.verify()).toEqual(['I4: 1 pieces of the dupefilter are gone, and what they knew']);
    await frontier.repair(() => ({ domain: 'a.example', priority: 0, acceptedAtMs: 0 }), { force: false });
    expect(await frontier.verify()).toEqual([]);
    expect(await pushAll(frontier, 2_000, 'new')).toMatchObject({ accepted: 2_000 });
    expect(await pushAll(frontier, 2_000, 'new')).toMatchObject({ duplicates: 2_000 });
    expect(await frontier.verify()).toEqual([]);
    await world.dispose();
  });
});

describe('a dupefilter in Redis that another hand changes', { timeout: 60_000 }, () => {
  const look = async (frontier: Frontier) => {
    await frontier.reconcile([], 60_000);
    return (await frontier.lease(0, 0)).crawl;
  };

  it.each([
    ['RFPDupeFilter', (key: string) => admin.spop(key, 5)],
    ['TimedRFPDupeFilter', (key: string) => admin.zpopmax(key, 5)],
    [
      'StateDupeFilter',
      async (key: string) => admin.hdel(key, ...(await admin.hkeysBuffer(key)).slice(0, 5)),
    ],
  ] as const)('is noticed when a part of it is gone: %s', (name, remove) =>
    inCrawl({ class: name, expireMs: DAY_MS } as Dupefilter, async (crawl, key) => {
      const { frontier } = await crawl.node();
      await pushAll(frontier, 20);
      await remove(key);
      expect(await look(frontier)).toMatchObject({ seenGone: 5 });
      expect(await look(frontier)).toMatchObject({ seenGone: 5 });
      // What is pending keeps its place, and is no duplicate of itself.
      expect(await pushAll(frontier, 20)).toEqual({ accepted: 0, duplicates: 20 });
    }),
  );

  it('takes what others add to the set of Scrapy-Redis for no loss, and notices when that is deleted', () =>
    inCrawl({ class: 'RFPDupeFilter' }, async (crawl, key) => {
      const { frontier } = await crawl.node();
      await pushAll(frontier, 5);
      await admin.sadd(key, ...Array.from({ length: 20 }, (_, n) => sha1(`old-${n}`)));
      expect(await look(frontier)).toMatchObject({ seenGone: 0 });
      await admin.del(key);
      await frontier.push([request('new')], 'links');
      expect(await look(frontier)).toMatchObject({ seenGone: 25 });
    }));

  it('takes expired fingerprints for no loss', () =>
    inCrawl({ class: 'TimedRFPDupeFilter', expireMs: DAY_MS }, async (crawl, key) => {
      const { frontier } = await crawl.node();
      await pushAll(frontier, 300);
      const all = await admin.zrangeBuffer(key, 0, -1);
      await admin.zadd(key, ...all.flatMap((mark) => [1, mark] as [number, Buffer]));
      expect(await look(frontier)).toMatchObject({ seenGone: 0 });
      await pushAll(frontier, 10, 'new');
      expect(await admin.zcard(key)).toBe(300 + 10 - 120);
      expect(await look(frontier)).toMatchObject({ seenGone: 0 });
      await frontier.forget(request('page-299').fingerprint);
      expect(await look(frontier)).toMatchObject({ seenGone: 0 });
    }));

  it('is noticed when it gets a time to live, and when that ends', () =>
    inCrawl({ class: 'RFPDupeFilter' }, async (crawl, key) => {
      const { frontier } = await crawl.node();
      await pushAll(frontier, 5);
      await admin.expire(key, 1_000);
      expect(await look(frontier)).toMatchObject({ seenGone: 0, seenExpires: true });
      expect(await frontier.snapshot()).toMatchObject({ seenExpires: true });
      await admin.persist(key);
      expect(await look(frontier)).toMatchObject({ seenGone: 0, seenExpires: false });
      await admin.pexpire(key, 1);
      // A lease may find it gone after a heartbeat that still saw it; the next heartbeat sees no time to live.
      expect(
        await until(
          () => look(frontier),
          ({ seenGone, seenExpires }) => seenGone > 0 && !seenExpires,
        ),
      ).toMatchObject({
        seenGone: 5,
        seenExpires: false,
      });
    }));

  it.each<Dupefilter>([
    { class: 'CompactDupeFilter' },
    { class: 'BloomDupeFilter', capacity: 10_000_000, errorRate: 0.001 },
  ])('is noticed when one of its pieces is gone, once: %j', async (dupefilter) => {
    const world = redisWorld(server.url);
    const crawl = new Crawl(world, { dupefilter });
    const { frontier } = await crawl.node();
    await pushAll(frontier, 3_000);
    const [piece = ''] = await admin.keys(`${world.spider}:dupefilter:~piece:*:0`);
    await admin.del(piece);
    const noticed = await until(
      () => look(frontier),
      ({ seenGone }) => seenGone > 0,
    );
    expect(noticed.seenGone).toBeGreaterThan(0);
    const before = await frontier.snapshot();
    for (let n = 0; n < 3; n += 1) await look(frontier);
    expect(await frontier.snapshot()).toMatchObject({ seenGone: before.seenGone, seen: before.seen });
    await world.dispose();
  });

  it('leaves no piece behind when its index is deleted, and a new one begun before anybody looks', () =>
    inCrawl({ class: 'CompactDupeFilter' }, async (crawl, key) => {
      const { frontier } = await crawl.node();
      await pushAll(frontier, 1_000);
      await admin.del(`${key}:~index`);
      await pushAll(frontier, 400, 'new');
      expect(await look(frontier)).toMatchObject({ seenGone: 1_000 });
      await frontier.leave('shutdown');
      await frontier.clear(allParts, { force: false });
      expect(await admin.keys(`${key}*`)).toEqual([]);
    }));

  it('that several crawls share is not watched: each of them may empty it', async () => {
    const [one, other] = [redisWorld(server.url), redisWorld(server.url)];
    const crawls = [one, other].map(({ spider }) => {
      const keys = { ...openOptions(server.url, spider).keys, dupefilter: 'shared', sharesDupefilter: true };
      return new Crawl(redisWorld(server.url, { keys }));
    });
    const [first, second] = [(await crawls[0]!.node()).frontier, (await crawls[1]!.node()).frontier];
    await pushAll(first, 5);
    await second.clear(['dupefilter'], { force: true });
    expect(await look(first)).toMatchObject({ seenGone: 0 });
    for (const crawl of crawls) await crawl.end();
    await admin.del('shared');
  });
});

describe('a compact dupefilter in Redis', { timeout: 60_000 }, () => {
  it('keeps the first 64 bits of each fingerprint, exactly, in sets that stay small', () =>
    inCrawl({ class: 'CompactDupeFilter' }, async (crawl, key) => {
      const heads = [
        ...['0000000000000000', '0000000000000001', '7fffffffffffffff', '8000000000000000'],
        ...['8000000000000001', 'ffffffffffffffff', 'ffffffff00000000', '00000000ffffffff'],
        ...['00000000000f4240', 'fffffffffff0bdc0', '000000e8d4a51000', '7fffffff00000000'],
      ];
      const fingerprints = heads.map((head) => head.padEnd(40, '5'));
      for (let n = 0; n < 4_000; n += 1) fingerprints.push(sha1(`page-${n}`));
      const frontier = await crawl.outsider();
      for (let at = 0; at < fingerprints.length; at += 1_000) {
        const batch = fingerprints
          .slice(at, at + 1_000)
          .map((fingerprint) => ({ ...request('x'), id: fingerprint, fingerprint }));
        expect(await frontier.push(batch, 'links')).toMatchObject({ accepted: batch.length });
        expect(await frontier.push(batch, 'links')).toMatchObject({ duplicates: batch.length });
      }
      const buckets = await admin.keys(`${key}:~piece:*`);
      const stored = (await Promise.all(buckets.map((name) => admin.smembers(name)))).flat();
      const expected = fingerprints.map((text) =>
        BigInt.asIntN(64, BigInt(`0x${text.slice(0, 16)}`)).toString(),
      );
      expect(stored.sort()).toEqual(expected.sort());
      expect(stored.length / buckets.length).toBeLessThanOrEqual(256);
      const encodings = await Promise.all(buckets.map((name) => admin.object('ENCODING', name)));
      expect(new Set(encodings)).toEqual(new Set(['intset']));
    }));

  it('is refused by a Redis that would not keep its sets small, with what to do', async () => {
    const other = await startRedis({ args: ['--set-max-intset-entries', '100'] });
    try {
      await expect(open('news', { class: 'CompactDupeFilter' }, other.url)).rejects.toMatchObject({
        code: 'intset_entries',
        message: expect.stringContaining('CONFIG SET set-max-intset-entries 512'),
      });
      await (
        await open('news', { class: 'BloomDupeFilter', capacity: 10, errorRate: 0.1 }, other.url)
      ).close();
    } finally {
      await other.stop();
    }
  });
});

describe('a Bloom dupefilter in Redis', { timeout: 60_000 }, () => {
  it('allocates each chunk whole, and takes no more than a tenth above the theory', () =>
    inCrawl({ class: 'BloomDupeFilter', capacity: 400_000, errorRate: 0.001 }, async (crawl, key) => {
      const frontier = await crawl.outsider();
      await pushAll(frontier, 3_000);
      const chunks = await admin.keys(`${key}:~piece:*`);
      const sizes = await Promise.all(chunks.map((name) => admin.memory('USAGE', name)));
      const bytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
      const theory = (400_000 * Math.log(1 / 0.001)) / Math.LN2 ** 2 / 8;
      expect(bytes).toBeGreaterThan(theory);
      expect(bytes).toBeLessThan(1.1 * theory);
      expect(Math.max(...(await Promise.all(chunks.map((name) => admin.strlen(name)))))).toBeLessThan(
        2 ** 20,
      );
    }));
});

describe('a timed dupefilter in Redis', { timeout: 60_000 }, () => {
  it('after a clock that was ahead remembers nothing longer than its span', () =>
    inCrawl({ class: 'TimedRFPDupeFilter', expireMs: DAY_MS }, async (crawl, key) => {
      const frontier = await crawl.outsider();
      await frontier.push([request('a')], 'links');
      const mark = Buffer.from(sha1('a'), 'hex');
      await admin.zadd(key, Date.now() + 1_000 * DAY_MS, mark);
      await frontier.push([request('b')], 'links');
      expect(Number(await admin.zscore(key, mark))).toBeLessThanOrEqual(Date.now() + DAY_MS + 1_000);
      expect(await frontier.push([request('a')], 'links')).toMatchObject({ duplicates: 1 });
    }));

  it('removes what it has forgotten as new requests come, a bounded number at a time', () =>
    inCrawl({ class: 'TimedRFPDupeFilter', expireMs: DAY_MS }, async (crawl, key) => {
      const old = Array.from({ length: 1_000 }, (_, n) => Buffer.from(sha1(`old-${n}`), 'hex'));
      await admin.zadd(key, ...old.flatMap((mark) => [1, mark] as [number, Buffer]));
      const frontier = await crawl.outsider();
      expect((await frontier.snapshot()).seen).toBe(0);
      await frontier.push([request('a')], 'links');
      expect(await admin.zcard(key)).toBe(1_001 - 102);
      await pushAll(frontier, 1_000);
      expect(await admin.zcard(key)).toBe(1_001);
    }));
});
