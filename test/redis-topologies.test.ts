/** The Redis engine on a Cluster and behind Sentinels: real servers, a crawl on each, and a failover. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { RedisAddress } from '../src/frontier/open.js';
import { RedisFrontier } from '../src/frontier/redis/redis-frontier.js';
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
} from './frontier-contract/world.js';
import { openOptions } from './helpers/open-options.js';
import { type RedisServer, startRedis } from './helpers/redis-server.js';

const run = promisify(execFile);

function crawlAt(address: RedisAddress, spider: string): Crawl {
  const options = openOptions({ engine: 'redis', address }, spider, { connectTimeoutMs: 15_000 });
  return new Crawl(worldOf(() => RedisFrontier.open(options, address)));
}

describe('a Redis Cluster', { timeout: 60_000 }, () => {
  it("carries a crawl in one slot: the spider's part of every key is the hash tag", async () => {
    const servers: RedisServer[] = [];
    try {
      for (let i = 0; i < 3; i++) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }));
      const addresses = servers.map(({ host, port }) => `${host}:${port}`);
      await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
      await untilClusterIsUp(servers);
      const nodes = servers.map(({ host, port }) => ({ host, port }));
      for (const spider of ['{news}', '{docs}', '{shop}']) {
        const crawl = crawlAt({ kind: 'cluster', nodes, options: {} }, spider);
        const { frontier } = await crawl.node();
        await frontier.push([request('a'), request('b')], 'links');
        const leases = await take(frontier, 2);
        await Promise.all(leases.map((lease) => commit(frontier, lease, done, { items: ['{"n":1}'] })));
        expect(await frontier.snapshot()).toMatchObject({ done: 2, items: 2, pending: 0 });
        await frontier.leave('finished');
        await crawl.end();
      }
      const docs = await RedisFrontier.open(
        openOptions({ engine: 'redis', address: { kind: 'cluster', nodes, options: {} } }, '{docs}'),
        { kind: 'cluster', nodes, options: {} },
      );
      const findings = await docs.examine();
      expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
      expect(findings).toContainEqual(expect.objectContaining({ check: 'slots', level: 'ok' }));
      expect(findings.filter(({ check }) => check === 'redis_version')).toHaveLength(3);
      await docs.close();
    } finally {
      for (const server of servers) await server.stop();
    }
  });
});

describe('Redis behind Sentinels', { timeout: 60_000 }, () => {
  it('goes on after its master was killed: what was committed is there, and the node joins anew', async () => {
    const master = await startRedis();
    const replica = await startRedis({ args: ['--replicaof', master.host, String(master.port)] });
    const sentinel = await startSentinel(master);
    const address: RedisAddress = {
      kind: 'sentinel',
      options: { sentinels: [{ host: sentinel.host, port: sentinel.port }], name: 'mymaster' },
    };
    try {
      await untilReplicated(master);
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
          (answer) => answer === 'incarnation_dead',
          20_000,
        ),
      ).resolves.toBe('incarnation_dead');
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

async function untilClusterIsUp(servers: readonly RedisServer[]): Promise<void> {
  for (const { url } of servers) {
    await asking(url, (admin) =>
      until(
        () => admin.cluster('INFO') as Promise<string>,
        (info) => /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info),
        20_000,
      ),
    );
  }
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
