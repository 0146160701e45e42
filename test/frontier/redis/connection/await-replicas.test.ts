/** REDIS_WAIT_REPLICAS: what was accepted or committed is on a replica, and a replica that lags makes the caller wait. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRedisFrontier } from '../../../../src/frontier/redis/redis-frontier.js';
import {
  Crawl,
  commit,
  done,
  effects,
  request,
  takeOne,
  until,
  worldOf,
} from '../../../frontier-contract/world.js';
import { openOptions } from '../../../helpers/open-options.js';
import { startCluster } from '../../../helpers/redis/redis-cluster.js';
import { type RedisServer, startRedis } from '../../../helpers/redis/redis-server.js';

describe('a frontier that waits for one replica', { timeout: 60_000 }, () => {
  let master: RedisServer;
  let replica: RedisServer;
  let copy: Redis;
  let crawl: Crawl;

  beforeAll(async () => {
    master = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
    replica = await startRedis({ args: ['--replicaof', master.host, String(master.port)] });
    copy = new Redis(replica.url);
    copy.on('error', () => {});
    await untilLinked(copy);
  });
  beforeEach(() => {
    const address = { kind: 'standalone', url: master.url, options: {} } as const;
    const options = openOptions({ engine: 'redis', address }, 'news', {
      ...{ waitReplicas: 1, connectTimeoutMs: 1_000 },
    });
    crawl = new Crawl(worldOf(() => openRedisFrontier(options, address)));
  });
  afterEach(async () => {
    replica.resume();
    await crawl.end();
    const admin = new Redis(master.url);
    await admin.flushall();
    admin.disconnect();
  });
  afterAll(async () => {
    copy.disconnect();
    await replica.stop();
    await master.stop();
  });

  it('finds each accepted request and each committed item there at once', async () => {
    const { frontier } = await crawl.node();
    for (let n = 0; n < 20; n++) {
      await frontier.push([request(`page-${n}`)], 'links');
      expect(await copy.hlen('news:requests')).toBe(n + 1);
    }
    for (let n = 0; n < 20; n++) {
      await commit(frontier, await takeOne(frontier), done, effects({ items: ['{"n":1}'] }));
      expect(await copy.llen('news:items')).toBe(n + 1);
    }
  });

  it('accepts nothing while the replica hangs, and each request once when it goes on', async () => {
    const { frontier } = await crawl.node();
    replica.pause();
    let isAccepted = false;
    const pushed = frontier.push([request('a')], 'links').then((result) => {
      isAccepted = true;
      return result;
    });
    const direct = new Redis(master.url);
    expect(
      await until(
        () => direct.hlen('news:requests'),
        (count) => count === 1,
      ),
    ).toBe(1);
    direct.disconnect();
    expect(isAccepted).toBe(false);
    replica.resume();
    expect(await pushed).toMatchObject({ accepted: 1 });
    expect(await frontier.snapshot()).toMatchObject({ pending: 1, seen: 1 });
  });

  it('says how many replicas are missing, and what to do', async () => {
    const { frontier } = await crawl.node();
    await replica.kill();
    await expect(frontier.push([request('a')], 'links')).rejects.toThrow(
      /0 of 1 replicas had the last writes .*REDIS_WAIT_REPLICAS/,
    );
    await replica.restart();
    await untilLinked(copy);
    await frontier.push([request('a'), request('b')], 'links');
    expect(await frontier.snapshot()).toMatchObject({ pending: 2 });
  });
});

it('in a Cluster the replicas of the server that has the crawl count', { timeout: 60_000 }, async () => {
  const cluster = await startCluster();
  const replicas: RedisServer[] = [];
  try {
    for (const { host, port, url } of cluster.servers) {
      const replica = await startRedis({ args: ['--cluster-enabled', 'yes'] });
      replicas.push(replica);
      const [master, admin] = [new Redis(url), new Redis(replica.url)];
      await master.config('SET', 'repl-diskless-sync-delay', '0');
      const masterId = await master.cluster('MYID');
      await admin.call('CLUSTER', 'MEET', host, port);
      await until(
        () => admin.call('CLUSTER', 'REPLICATE', String(masterId)).catch(() => 'unknown yet'),
        (answer) => answer === 'OK',
        20_000,
      );
      await untilLinked(admin);
      master.disconnect();
      admin.disconnect();
    }
    const { address } = cluster;
    for (const spider of ['{news}', '{docs}', '{shop}']) {
      const options = openOptions({ engine: 'redis', address }, spider, { waitReplicas: 1 });
      const crawl = new Crawl(worldOf(() => openRedisFrontier(options, address)));
      const { frontier } = await crawl.node();
      await frontier.push([request('a')], 'links');
      await commit(frontier, await takeOne(frontier), done, effects({ items: ['{"n":1}'] }));
      expect(await frontier.snapshot()).toMatchObject({ done: 1, items: 1 });
      await crawl.end();
    }
  } finally {
    for (const replica of replicas) await replica.stop();
    await cluster.stop();
  }
});

async function untilLinked(replica: Redis): Promise<void> {
  const isUp = (info: string) => /master_link_status:up/.test(info);
  expect(await until(() => replica.info('replication'), isUp, 20_000)).toMatch(/master_link_status:up/);
}
