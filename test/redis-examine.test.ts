/** What `examine` (the facts behind doctor) finds in a real Redis: limits, disk, rights, replicas, keys. */
import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { Finding } from '../src/frontier/frontier.js';
import type { OpenOptions } from '../src/frontier/open.js';
import { request } from './frontier-contract/world.js';
import { defaultShape } from './helpers/open-options.js';
import { redisOfFile } from './helpers/redis-of-file.js';
import { startRedis } from './helpers/redis-server.js';
import { openRedis } from './helpers/redis-world.js';
import { waitFor } from './helpers/wait-for.js';

const { server, admin } = await redisOfFile();
afterEach(async () => void (await admin.flushall()));

const examine = async (url = server.url, more: Partial<OpenOptions> = {}): Promise<readonly Finding[]> => {
  const frontier = await openRedis(url, 'news', { allowEviction: true, acceptForeignKeys: true, ...more });
  try {
    return await frontier.examine();
  } finally {
    await frontier.close();
  }
};
const finding = async (check: string, ...how: Parameters<typeof examine>) =>
  (await examine(...how)).find((one) => one.check === check);

describe('examining a Redis', () => {
  it('finds no problem in one that is well, and tells what a crash would lose', async () => {
    const findings = await examine();
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      ...['redis_version', 'eviction_policy', 'memory', 'persistence', 'replication', 'latency', 'clock'],
      ...['acl', 'keys'],
    ]);
    expect(await finding('persistence')).toMatchObject({
      level: 'info',
      message: expect.stringContaining('loses the crawl'),
      action: expect.stringContaining('appendonly yes'),
    });
    await admin.config('SET', 'appendonly', 'yes');
    expect(await finding('persistence')).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('at most a second'),
    });
    await admin.config('SET', 'appendonly', 'no');
    await admin.config('SET', 'save', '3600 1');
    expect(await finding('persistence')).toMatchObject({
      level: 'info',
      message: expect.stringMatching(/would lose \d+ changes/),
    });
    await admin.config('SET', 'save', '');
  });

  it('changes nothing, and leaves no key', async () => {
    await examine();
    expect(await admin.keys('*')).toEqual([]);
  });

  it('names a policy that would evict the crawl, and memory that runs out', async () => {
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await finding('eviction_policy')).toMatchObject({ level: 'info' });
    await admin.config('SET', 'maxmemory', '1500kb');
    expect(await finding('eviction_policy')).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('allkeys-lru'),
    });
    expect((await finding('memory'))?.level).not.toBe('ok');
    await admin.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
  });

  it('names each right the user lacks, with the command that gives it', async () => {
    const { host, port } = server;
    const url = `redis://crawler:secret@${host}:${port}`;
    await admin.acl(
      'SETUSER',
      'crawler',
      'on',
      '>secret',
      '~news:*',
      '+@all',
      '-hset',
      '-zadd',
      '-evalsha',
      '-smismember',
    );
    expect(await finding('acl', url)).toEqual({
      ...{ level: 'problem', check: 'acl', about: 'store' },
      message: 'the user crawler of Redis lacks EVALSHA, HSET, SMISMEMBER, ZADD',
      action: 'ACL SETUSER crawler +evalsha +hset +smismember +zadd',
    });
    await admin.acl('SETUSER', 'crawler', '+@all', '-memory|usage', '-info');
    expect(
      (await examine(url)).filter(({ level }) => level === 'info').map(({ message }) => message),
    ).toEqual(
      expect.arrayContaining([
        expect.stringContaining('INFO may not be asked'),
        expect.stringContaining('may not run MEMORY USAGE'),
      ]),
    );
    await admin.acl('SETUSER', 'crawler', 'resetkeys', '~news:requests*', '~news:[ids]*', '+@all');
    expect(await finding('acl', url)).toMatchObject({ level: 'ok' });
    await admin.acl('SETUSER', 'crawler', 'resetkeys', '~news:requests*', '~news:[is]*');
    expect(await finding('acl', url)).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('the key news:dupefilter'),
    });
    await admin.acl('DELUSER', 'crawler');
  });

  it('names keys left by Scrapy-Redis, and seeds under the name that a Cluster would give them', async () => {
    await admin.zadd('news:requests', 1, 'a pickle');
    await admin.rpush('{news}:start_urls', 'http://a.example/');
    const problems = (await examine()).filter(({ level }) => level === 'problem');
    expect(problems).toMatchObject([
      { check: 'foreign_key', about: 'crawl', message: expect.stringContaining('left by Scrapy-Redis') },
      { check: 'start_urls_key', message: expect.stringContaining('{news}:start_urls holds seeds') },
    ]);
  });

  it('wants intsets large enough for a CompactDupeFilter', async () => {
    const compact = { shape: { ...defaultShape, dupefilter: { class: 'CompactDupeFilter' } } } as const;
    expect(await finding('intset_entries', server.url, compact)).toMatchObject({ level: 'ok' });
    await admin.config('SET', 'set-max-intset-entries', '128');
    expect(await finding('intset_entries', server.url, compact)).toMatchObject({ level: 'problem' });
    await admin.config('SET', 'set-max-intset-entries', '512');
  });

  it('names a save that failed', async () => {
    const broken = await startRedis();
    const client = new Redis(broken.url);
    await rm(broken.dir, { recursive: true });
    await client.bgsave();
    const failed = async () => (await finding('persistence', broken.url))?.level === 'problem';
    await waitFor(failed, { what: 'the save to fail' });
    client.disconnect();
    await broken.stop();
  });

  it('knows a replica from its master', async () => {
    const replica = await startRedis({ args: ['--replicaof', server.host, String(server.port)] });
    await waitFor(async () => (await admin.info('replication')).includes('connected_slaves:1'));
    expect(await finding('replication')).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('1 replica'),
    });
    expect(await finding('replication', replica.url)).toMatchObject({ level: 'problem' });
    await replica.stop();
  });

  it('leaves a crawl as it was', async () => {
    const frontier = await openRedis(server.url, 'news');
    await frontier.push([request('a')], 'links');
    await frontier.close();
    const before = await admin.dump('news:requests:~meta');
    await examine();
    expect(await admin.dump('news:requests:~meta')).toBe(before);
  });
});
