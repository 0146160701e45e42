/** The Redis engine passes the contract, and what only a store behind a network can get wrong. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lease, noEffects } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { frontierContract } from '../../frontier-contract/frontier-contract.js';
import {
  Crawl,
  commit,
  done,
  effects,
  failed,
  request,
  take,
  takeOne,
} from '../../frontier-contract/world.js';
import { canStepClocks, steppedClock } from '../../helpers/children/stepped-clock.js';
import { type CuttingProxy, startCuttingProxy } from '../../helpers/redis/cutting-proxy.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { openRedis, redisWorld, soonGivingUp } from '../../helpers/redis/redis-world.js';

const clock = canStepClocks ? steppedClock() : undefined;
afterAll(() => clock?.remove());
const { server, admin } = await redisOfFile(clock && { env: clock.env });

const open = (spider: string, url = server.url, more: Partial<OpenOptions> = {}) =>
  openRedis(url, spider, more);
const newWorld = (url = server.url, more: Partial<OpenOptions> = {}) => redisWorld(url, more);

frontierContract('Redis', async () => redisWorld(server.url, {}, clock?.ofStore));

describe('a reply of Redis that is lost', () => {
  let proxy: CuttingProxy;
  let crawl: Crawl;
  beforeEach(async () => {
    proxy = await startCuttingProxy(server.port);
    crawl = new Crawl(newWorld(`redis://127.0.0.1:${proxy.port}`, soonGivingUp));
  });
  afterEach(async () => {
    await crawl.end();
    await proxy.close();
  });

  it('does not push twice: the first answer comes again', async () => {
    const { frontier } = await crawl.node();
    proxy.cutNextReply();
    expect(await frontier.push([request('a'), request('b')], 'links')).toEqual({
      accepted: 2,
      duplicates: 0,
    });
    expect(proxy.cuts()).toBe(1);
    expect(await frontier.snapshot()).toMatchObject({ pending: 2, accepted: 2 });
  });

  it('does not lease others in their place: the same leases come again, with their records', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([request('a'), request('b'), request('c')], 'links');
    proxy.cutNextReply();
    const { leases } = await frontier.lease(2, 0);
    expect(proxy.cuts()).toBe(1);
    expect(leases.map(({ record }) => record)).toEqual([request('a').record, request('b').record]);
    expect(await frontier.snapshot()).toMatchObject({ pending: 1, leased: 2 });
    for (const lease of leases) await commit(frontier, lease);
  });

  it('does not commit a page twice: items, links and counters are there once, and the answer is committed', async () => {
    const { frontier } = await crawl.node({ feeds: ['feed'] });
    await frontier.push([request('a')], 'links');
    const lease = await takeOne(frontier);
    proxy.cutNextReply();
    const answer = await frontier.settle(
      lease,
      done,
      effects({
        items: ['{"n":1}'],
        feedItems: ['{"n":1}'],
        requests: [request('b')],
        stats: { item_scraped_count: 1 },
      }),
    );
    expect(proxy.cuts()).toBe(1);
    expect(answer).toMatchObject({ committed: true, accepted: 1, duplicates: 0 });
    expect(await frontier.snapshot()).toMatchObject({
      done: 1,
      pending: 1,
      items: 1,
      counters: { item_scraped_count: 1 },
    });
    expect(await frontier.feeds.read('feed', 0, 10)).toEqual(['{"n":1}']);
    // The answer has arrived now, so one more settle is not a resend: its token is spent.
    expect(await frontier.settle(lease, done, noEffects)).toEqual({ committed: false });
    expect(await frontier.snapshot()).toMatchObject({ done: 1 });
  });

  it('does not commit pages twice that ended at once, nor one of them that the engine settles again beside others', async () => {
    const { frontier } = await crawl.node();
    await frontier.push(
      ['a', 'b', 'c'].map((name) => request(name)),
      'links',
    );
    const [a, b, c] = await take(frontier, 3);
    proxy.cutNextReply();
    const page = effects({ items: ['{}'], stats: { item_scraped_count: 1 } });
    const answers = await Promise.all([frontier.settle(a!, done, page), frontier.settle(b!, done, page)]);
    expect(proxy.cuts()).toBe(1);
    expect(answers).toMatchObject([{ committed: true }, { committed: true }]);
    const again = await Promise.all([frontier.settle(c!, done, page), frontier.settle(b!, done, page)]);
    expect(again).toMatchObject([{ committed: true }, {}]);
    expect(await frontier.snapshot()).toMatchObject({
      done: 3,
      items: 3,
      leased: 0,
      counters: { item_scraped_count: 3 },
    });
  });

  it('commits pages once that are settled again beside others, after the call that committed them was given up', async () => {
    const { frontier } = await crawl.node();
    await frontier.push(
      ['a', 'b', 'c', 'd'].map((name) => request(name)),
      'links',
    );
    const [a, b, c, d] = (await take(frontier, 4)) as [Lease, Lease, Lease, Lease];
    // Redis knows the script from here on.
    await commit(frontier, d);
    const page = (name: string) =>
      effects({ items: ['{}'], requests: [request(`${name}/1`)], stats: { item_scraped_count: 1 } });
    proxy.cutAllReplies(true);
    const lost = await Promise.allSettled([
      frontier.settle(a, done, page('a')),
      frontier.settle(b, failed(), page('b')),
    ]);
    for (const answer of lost) expect(answer).toMatchObject({ reason: { code: 'frontier_unavailable' } });
    proxy.cutAllReplies(false);
    expect(await frontier.snapshot()).toMatchObject({ done: 2, failed: 1 });
    const again = await Promise.all([
      frontier.settle(c, done, page('c')),
      frontier.settle(b, failed(), page('b')),
    ]);
    expect(again).toMatchObject([
      { committed: true, accepted: 1 },
      { committed: true, accepted: 1 },
    ]);
    const turn = frontier.settle(a, done, page('a'));
    await frontier.lease(1, 0);
    expect(await turn).toMatchObject({ committed: true, accepted: 1 });
    // Of a settle that was answered nothing is remembered.
    expect(await frontier.settle(a, done, page('a'))).toEqual({ committed: false });
    expect(await frontier.snapshot()).toMatchObject({
      ...{ done: 3, failed: 1, items: 3, pending: 2, leased: 1 },
      counters: { item_scraped_count: 3 },
    });
  });

  it('commits a page once that is given up twice, the first time before it reached the store', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([request('a'), request('b'), request('c')], 'links');
    const [a, b, c] = (await take(frontier, 3)) as [Lease, Lease, Lease];
    const page = effects({ items: ['{}'], stats: { item_scraped_count: 1 } });
    // Redis knows the script from here on.
    await commit(frontier, c);
    const unavailable = { code: 'frontier_unavailable' };
    proxy.refuse(true);
    await expect(frontier.settle(a, done, page)).rejects.toMatchObject(unavailable);
    proxy.refuse(false);
    expect(await frontier.snapshot()).toMatchObject({ done: 1, leased: 2 });
    proxy.cutAllReplies(true);
    await expect(frontier.settle(a, done, page)).rejects.toMatchObject(unavailable);
    proxy.cutAllReplies(false);
    expect(await frontier.snapshot()).toMatchObject({ done: 2, leased: 1 });
    const again = await Promise.all([frontier.settle(b, done, page), frontier.settle(a, done, page)]);
    expect(again).toMatchObject([{ committed: true }, { committed: true }]);
    expect(await frontier.snapshot()).toMatchObject({
      ...{ done: 3, items: 2, leased: 0 },
      counters: { item_scraped_count: 2 },
    });
  });

  it('does not do a turn twice that ended a page and leased the next', async () => {
    const { frontier } = await crawl.node();
    await frontier.push([request('a'), request('b'), request('c')], 'links');
    const a = await takeOne(frontier);
    proxy.cutNextReply();
    const settled = frontier.settle(a, done, effects({ items: ['{}'], requests: [request('d')] }));
    const { leases } = await frontier.lease(1, 0);
    expect(proxy.cuts()).toBe(1);
    expect(await settled).toMatchObject({ committed: true, accepted: 1 });
    expect(leases.map(({ record }) => record)).toEqual([request('b').record]);
    expect(await frontier.snapshot()).toMatchObject({ done: 1, items: 1, leased: 1, pending: 2 });
    await commit(frontier, leases[0]!);
  });

  it('does not take a seed in twice', async () => {
    const { frontier } = await crawl.node();
    await frontier.appendSeeds(['http://a.example/']);
    const seeds = await frontier.peekSeeds(10);
    proxy.cutNextReply();
    const answer = await frontier.intake(seeds.map((seed) => ({ seed, requests: [request('a')] })));
    expect(proxy.cuts()).toBe(1);
    expect(answer).toEqual({ accepted: 1, duplicates: 0, bad: 0 });
    expect(await frontier.snapshot()).toMatchObject({ pending: 1, startUrls: 0 });
  });
});

describe('a Redis server', () => {
  it('that forgets its scripts goes on without an error', async () => {
    const crawl = new Crawl(newWorld());
    try {
      const { frontier } = await crawl.node();
      await admin.script('FLUSH');
      await frontier.push([request('a')], 'links');
      await admin.script('FLUSH');
      await commit(frontier, await takeOne(frontier));
    } finally {
      await crawl.end();
    }
  });

  it('that is killed and comes back with its data is waited for, and the node joins anew', async () => {
    const durable = await startRedis({ persist: true });
    const crawl = new Crawl(newWorld(durable.url));
    try {
      const node = await crawl.node();
      await node.frontier.push([request('a'), request('b')], 'links');
      const held = await takeOne(node.frontier);
      await durable.kill();
      const settling = node.frontier.settle(held, done, noEffects);
      await durable.restart();
      expect(await settling).toMatchObject({ committed: true });
      await expect(node.frontier.lease(1, 0)).rejects.toMatchObject({ code: 'store_replaced' });
      await crawl.join(node.frontier);
      await commit(node.frontier, await takeOne(node.frontier));
      expect(await node.frontier.snapshot()).toMatchObject({ done: 2, leased: 0, nodes: [{ leased: 0 }] });
    } finally {
      await crawl.end();
      await durable.stop();
    }
  });

  it('that cannot be reached is named, with what to check', async () => {
    const gone = await startRedis();
    await gone.stop();
    await expect(open('nobody', gone.url, { connectTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'frontier_unavailable',
      message: expect.stringContaining(`127.0.0.1:${gone.port} cannot be reached`),
    });
  });

  it('with another password refuses at once, and the password is not shown', async () => {
    const locked = await startRedis({ password: 'right' });
    try {
      const url = `redis://:wr0ng@127.0.0.1:${locked.port}`;
      const refused = await open('nobody', url).catch((error: unknown) => error as Error);
      expect(refused).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('REDIS_PASSWORD'),
      });
      expect((refused as Error).message).not.toContain('wr0ng');
    } finally {
      await locked.stop();
    }
  });

  it('without the database asked for refuses at once, and writes into no other', async () => {
    const server = await startRedis();
    try {
      const there = { message: expect.stringMatching(/refuses: ERR DB index .*check REDIS_DB/) };
      await expect(open('nobody', `redis://127.0.0.1:${server.port}/99`)).rejects.toMatchObject(there);
      await (await open('somebody', `redis://127.0.0.1:${server.port}/15`)).close();
    } finally {
      await server.stop();
    }
  });

  it('that may evict the frontier is refused, unless the user takes the risk', async () => {
    const evicting = await startRedis({
      args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    try {
      await expect(open('nobody', evicting.url)).rejects.toMatchObject({ code: 'eviction_policy' });
      await (await open('nobody', evicting.url, { allowEviction: true })).close();
    } finally {
      await evicting.stop();
    }
  });

  it("with a Scrapy-Redis queue under the spider's name is refused, naming the key and the way out", async () => {
    try {
      await admin.zadd('pickled:requests', 0, 'pickle');
      await expect(open('pickled')).rejects.toMatchObject({
        code: 'foreign_key',
        message: expect.stringMatching(/pickled:requests is a ZSET, left by Scrapy-Redis.*reset/),
      });
      const reset = await open('pickled', undefined, { acceptForeignKeys: true });
      expect(await reset.count()).toMatchObject({ queue: 1 });
      await reset.clear(['queue', 'dupefilter'], { force: false });
      await reset.close();
      await (await open('pickled')).close();
    } finally {
      await admin.del('pickled:requests');
    }
  });
});

describe('keys in Redis', () => {
  it('of another spider stay untouched, byte for byte, when one is cleared', async () => {
    const clients = [await open('news'), await open('news2')];
    try {
      for (const frontier of clients) {
        await frontier.push([request('a'), request('b')], 'links');
        await frontier.appendSeeds(['http://a.example/']);
      }
      const dumpOf = async (pattern: string) => {
        const keys = (await admin.keys(pattern)).sort();
        return Promise.all(keys.map(async (key) => [key, (await admin.dumpBuffer(key))?.toString('hex')]));
      };
      const before = await dumpOf('news2:*');
      expect(before.length).toBeGreaterThan(5);
      await clients[0]?.clear(['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'], {
        force: false,
      });
      expect(await admin.keys('news:*')).toEqual([]);
      expect(await dumpOf('news2:*')).toEqual(before);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
      await admin.del(...(await admin.keys('news2:*')));
    }
  });

  it('that somebody deleted by hand are noticed: flushed under a node, the crawl is gone', async () => {
    const world = newWorld();
    const crawl = new Crawl(world);
    try {
      const { frontier, joined } = await crawl.node();
      await frontier.push([request('a')], 'links');
      await admin.del(...(await admin.keys(`${world.spider}:*`)));
      await expect(frontier.lease(1, 0)).rejects.toMatchObject({ code: 'frontier_gone' });
      expect(await frontier.heartbeat(joined.incarnation, 0)).toBe('gone');
    } finally {
      await crawl.end();
    }
  });

  it('whose record was deleted are skipped and counted, and the crawl goes on', async () => {
    const world = newWorld();
    const crawl = new Crawl(world);
    try {
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      await admin.hdel(`${world.spider}:requests`, Buffer.from(request('a').id, 'hex'));
      const [lease] = await take(frontier, 1);
      expect(lease?.record).toBe(request('b').record);
      await commit(frontier, lease!);
      expect(await frontier.snapshot()).toMatchObject({ pending: 0, lost: 1, done: 1 });
    } finally {
      await crawl.end();
    }
  });
});
