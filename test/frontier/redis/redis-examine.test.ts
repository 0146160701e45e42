/** What `examine` (the facts behind doctor) finds in a real Redis: limits, disk, rights, replicas, keys. */
import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { RefusedError } from '../../../src/errors.js';
import { findingsAbout } from '../../../src/frontier/findings.js';
import type { Finding } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { examineVersion } from '../../../src/frontier/redis/examine/version.js';
import { request } from '../../frontier-contract/world.js';
import { defaultShape } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { startRedis } from '../../helpers/redis/redis-server.js';
import { openRedis } from '../../helpers/redis/redis-world.js';
import { waitFor } from '../../helpers/wait-for.js';

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
      '-fcall',
      '-function|load',
      '-smismember',
    );
    expect(await finding('acl', url)).toEqual({
      ...{ level: 'problem', check: 'acl', about: 'store' },
      message: 'the user crawler of Redis lacks FCALL, FUNCTION LOAD, HSET, SMISMEMBER, ZADD',
      action: 'ACL SETUSER crawler +fcall +function|load +hset +smismember +zadd',
    });
    await admin.acl('SETUSER', 'crawler', '+@all', '-memory|usage', '-info', '-function|list');
    expect(
      (await examine(url)).filter(({ level }) => level === 'info').map(({ message }) => message),
    ).toEqual(
      expect.arrayContaining([
        expect.stringContaining('INFO may not be asked'),
        expect.stringContaining('may not run MEMORY USAGE'),
        expect.stringContaining('may not run FUNCTION LIST'),
      ]),
    );
    expect((await examine(url)).map(({ action }) => action)).toContain('ACL SETUSER crawler +function|list');
    await admin.acl('SETUSER', 'crawler', 'resetkeys', '~news:requests*', '~news:[ids]*', '+@all');
    expect(await finding('acl', url)).toMatchObject({ level: 'ok' });
    await admin.acl('SETUSER', 'crawler', 'resetkeys', '~news:requests*', '~news:[is]*');
    expect(await finding('acl', url)).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('the key news:dupefilter'),
    });
    await admin.acl('DELUSER', 'crawler');
  });

  it('names functions of other versions of crawlnode, and no others', async () => {
    const load = (name: string) =>
      admin.function(
        'LOAD',
        `#!lua name=${name}
      redis.register_function('${name}_lease', function() return 1 end)`,
      );
    await load('cn8_00c0ffee');
    await load('cn11_ab12cd34');
    await load('cnews');
    await load('other');
    expect(await finding('functions')).toEqual({
      ...{ level: 'info', check: 'functions', about: 'store' },
      message: 'holds functions of other versions of crawlnode: cn11_ab12cd34, cn8_00c0ffee',
      action: expect.stringMatching(
        /^FUNCTION DELETE cn11_ab12cd34; FUNCTION DELETE cn8_00c0ffee .*load its own again by itself$/,
      ),
    });
    await admin.function('FLUSH');
    await (await openRedis(server.url, 'news')).push([request('a')], 'links');
    expect(await finding('functions')).toBeUndefined();
  });

  it.each([
    ['Redis 6.2.14', { redis_version: '6.2.14' }, 'problem'],
    ['Redis 7.0.0', { redis_version: '7.0.0' }, 'ok'],
    ['Redis 10.1.0', { redis_version: '10.1.0' }, 'ok'],
    ['Valkey 7.2.5', { redis_version: '7.2.4', server_name: 'valkey', valkey_version: '7.2.5' }, 'ok'],
    ['Dragonfly df-v1.23.2', { redis_version: '7.4.0', dragonfly_version: 'df-v1.23.2' }, 'problem'],
  ])('%s, as its INFO names it, is told from those without functions', (spoken, info, level) => {
    const findings = findingsAbout('store');
    examineVersion(new Map(Object.entries(info)), findings);
    expect(findings.found).toMatchObject([
      { check: 'redis_version', level, message: expect.stringContaining(spoken) },
    ]);
  });

  it('a server that knows no functions is refused, saying which have them', async () => {
    const old = await startRedis({
      args: ['--rename-command', 'FCALL', '', '--rename-command', 'FUNCTION', ''],
    });
    await expect(openRedis(old.url, 'news')).rejects.toMatchObject({
      code: 'server_version',
      message: expect.stringMatching(/Redis 7\.0 or newer, or Valkey 7\.2 or newer/),
    });
    await expect(openRedis(old.url, 'news')).rejects.toThrow(RefusedError);
    await old.stop();
  });

  it('names a command that the server was told not to have', async () => {
    const renamed = await startRedis({ args: ['--rename-command', 'FUNCTION', ''] });
    const problems = (await examine(renamed.url)).filter(({ level }) => level === 'problem');
    expect(problems).toMatchObject([{ message: expect.stringContaining('has no command FUNCTION') }]);
    await renamed.stop();
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
