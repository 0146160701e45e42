/** The Redis engine on a Cluster and behind Sentinels: real servers, a crawl on each, and a failover. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allParts, type Dupefilter, type Shape } from '../../../src/frontier/frontier.js';
import type { RedisAddress } from '../../../src/frontier/open-options.js';
import { RedisConnection } from '../../../src/frontier/redis/connection/connection.js';
import { openRedisFrontier } from '../../../src/frontier/redis/redis-frontier.js';
import { pushAll } from '../../frontier-contract/dupefilters.js';
import {
  Crawl,
  commit,
  done,
  effects,
  request,
  take,
  takeOne,
  until,
  worldOf,
} from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { type RedisCluster, startCluster } from '../../helpers/redis/redis-cluster.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';

function crawlAt(address: RedisAddress, spider: string, shape: Partial<Shape> = {}): Crawl {
  const open = (choice: Partial<Shape> = {}) =>
    openRedisFrontier(
      openOptions({ engine: 'redis', address }, spider, {
        connectTimeoutMs: 15_000,
        shape: { ...defaultShape, ...choice },
      }),
      address,
    );
  return new Crawl(worldOf(open), shape);
}

describe('a Redis Cluster', { timeout: 60_000 }, () => {
  let cluster: RedisCluster;
  let address: RedisCluster['address'];

  beforeAll(async () => {
    cluster = await startCluster();
    address = cluster.address;
  }, 60_000);
  afterAll(() => cluster.stop());

  it('reads seeds of a stream by a group in the slot of the spider', async () => {
    const options = openOptions({ engine: 'redis', address }, '{seeded}', { startUrlsType: 'stream' });
    const frontier = await openRedisFrontier(options, address);
    await frontier.appendSeeds(['a', 'b']);
    const seeds = await frontier.peekSeeds(9);
    const converted = seeds.map((seed) => ({ seed, requests: [request(seed.value.toString())] }));
    expect(await frontier.intake(converted)).toMatchObject({ accepted: 2 });
    expect(await frontier.snapshot()).toMatchObject({ startUrls: 0, pending: 2 });
    await frontier.clear(['start_urls'], { force: false });
    expect(await frontier.snapshot()).toMatchObject({ startUrls: 2 });
    await frontier.close();
  });

  it("carries a crawl in one slot: the spider's part of every key is the hash tag", async () => {
    for (const spider of ['{news}', '{docs}', '{shop}']) {
      const crawl = crawlAt(address, spider);
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      const leases = await take(frontier, 2);
      await Promise.all(leases.map((lease) => commit(frontier, lease, done, { items: ['{"n":1}'] })));
      expect(await frontier.snapshot()).toMatchObject({ done: 2, items: 2, pending: 0 });
      await frontier.leave('finished');
      await crawl.end();
    }
    const docs = await openRedisFrontier(openOptions({ engine: 'redis', address }, '{docs}'), address);
    const findings = await docs.examine();
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'slots', level: 'ok' }));
    expect(findings.filter(({ check }) => check === 'redis_version')).toHaveLength(3);
    await docs.close();
  });

  it.each<Dupefilter>([
    { class: 'TimedRFPDupeFilter', expireMs: 3_600_000 },
    { class: 'StateDupeFilter' },
    { class: 'BloomDupeFilter', capacity: 500, errorRate: 0.000_01 },
    { class: 'CompactDupeFilter' },
  ])(
    'carries a dupefilter of many keys too, and no key of it is left on any server: %j',
    async (dupefilter) => {
      const crawl = crawlAt(address, `{${dupefilter.class}}`, { dupefilter });
      const { frontier } = await crawl.node();
      expect(await pushAll(frontier, 3_000)).toEqual({ accepted: 3_000, duplicates: 0 });
      expect(await pushAll(frontier, 3_000)).toEqual({ accepted: 0, duplicates: 3_000 });
      await commit(frontier, await takeOne(frontier), done, effects({ requests: [request('link')] }));
      expect(await frontier.snapshot()).toMatchObject({ done: 1, pending: 3_000, seen: 3_001 });
      await frontier.leave('shutdown');
      await (await crawl.outsider()).clear(allParts, { force: false });
      const left = cluster.servers.map(({ url }) =>
        asking(url, (admin) => admin.keys(`{${dupefilter.class}}:*`)),
      );
      expect((await Promise.all(left)).flat()).toEqual([]);
      await crawl.end();
    },
  );
});

describe('Redis behind Sentinels', { timeout: 60_000 }, () => {
  it('names its Sentinels when none of them can be reached', async () => {
    const sentinels = [11, 12].map((port) => ({ host: '127.0.0.1', port }));
    const address = { kind: 'sentinel', options: { sentinels, name: 'mymaster' } } as const;
    await expect(RedisConnection.open(address, 500)).rejects.toMatchObject({
      code: 'frontier_unavailable',
      message: expect.stringContaining('mymaster (127.0.0.1:11, 127.0.0.1:12)'),
    });
  });

  it('leaves a master that Sentinel has replaced, also one that still takes writes and believes to be the master', async () => {
    const master = await startRedis();
    const replica = await startRedis({ args: ['--replicaof', master.host, String(master.port)] });
    // It asks a master for its replicas when it starts, and then each ten seconds.
    await untilReplicated(master);
    const sentinel = await startSentinel(master);
    const address: RedisAddress = {
      kind: 'sentinel',
      options: { sentinels: [{ host: sentinel.host, port: sentinel.port }], name: 'mymaster' },
    };
    try {
      const crawl = crawlAt(address, 'news');
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      await commit(frontier, await takeOne(frontier), done);
      await untilReplicated(master);
      // Nobody can demote it.
      await asking(master.url, (admin) => admin.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof'));
      await asking(sentinel.url, (admin) =>
        until(
          () => admin.call('SENTINEL', 'FAILOVER', 'mymaster').catch(String),
          (answer) => answer === 'OK',
          20_000,
        ),
      );
      await until(
        () => frontier.lease(0, 0).catch((error) => (error as { code: string }).code),
        (answer) => answer === 'store_replaced',
        30_000,
      );
      expect(await isMaster(master)).toBe(true);
      await crawl.join(frontier);
      await commit(frontier, await takeOne(frontier), done);
      expect(await asking(replica.url, (admin) => admin.hlen('news:requests'))).toBe(0);
      expect(await asking(master.url, (admin) => admin.hlen('news:requests'))).toBe(1);
      await frontier.leave('finished');
      await crawl.end();
    } finally {
      await sentinel.stop();
      await replica.stop();
      await master.stop();
    }
  });

  it('goes on after its master was killed: what was committed is there, and the node joins anew', async () => {
    const master = await startRedis();
    const replica = await startRedis({ args: ['--replicaof', master.host, String(master.port)] });
    // It asks a master for its replicas when it starts, and then each ten seconds.
    await untilReplicated(master);
    const sentinel = await startSentinel(master);
    const address: RedisAddress = {
      kind: 'sentinel',
      options: { sentinels: [{ host: sentinel.host, port: sentinel.port }], name: 'mymaster' },
    };
    try {
      const crawl = crawlAt(address, 'news');
      const { frontier } = await crawl.node();
      await frontier.push([request('a'), request('b')], 'links');
      await commit(frontier, await takeOne(frontier), done, effects({ items: ['{"n":1}'] }));
      await untilReplicated(master);
      await master.kill();
      await until(
        () => new Promise<boolean>((resolve) => isMaster(replica).then(resolve)),
        (promoted) => promoted,
        30_000,
      );
      await expect(
        until(
          () =>
            frontier.lease(0, 0).then(
              () => 'leased',
              (error) => (error as { code: string }).code,
            ),
          (answer) => answer === 'store_replaced',
          20_000,
        ),
      ).resolves.toBe('store_replaced');
      await crawl.join(frontier);
      await commit(frontier, await takeOne(frontier), done, effects({ items: ['{"n":2}'] }));
      expect(await frontier.snapshot()).toMatchObject({ done: 2, items: 2, pending: 0 });
      await frontier.leave('finished');
      await crawl.end();
    } finally {
      await sentinel.stop();
      await replica.stop();
      await master.stop();
    }
  });
});

async function startSentinel(master: RedisServer): Promise<RedisServer> {
  const file = path.join(master.dir, 'sentinel.conf');
  const lines = [
    `sentinel monitor mymaster ${master.host} ${master.port} 1`,
    'sentinel down-after-milliseconds mymaster 1000',
    'sentinel failover-timeout mymaster 5000',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return startRedis({ sentinel: file });
}

function untilReplicated({ url }: RedisServer): Promise<unknown> {
  return asking(url, async (admin) => {
    await until(
      () => admin.info('replication'),
      (info) => /state=online/.test(info),
      20_000,
    );
    await admin.wait(1, 5_000);
  });
}

function isMaster({ url }: RedisServer): Promise<boolean> {
  return asking(url, async (admin) => /^role:master/m.test(await admin.info('replication')));
}

async function asking<T>(url: string, question: (admin: Redis) => Promise<T>): Promise<T> {
  const admin = new Redis(url);
  try {
    return await question(admin);
  } finally {
    admin.disconnect();
  }
}
