/** External seeds as producers put them into Redis: lists, sets, sorted sets, several keys, and what goes wrong there. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConvertedSeed, Frontier } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { request } from '../../frontier-contract/world.js';
import { openOptions } from '../../helpers/open-options.js';
import { redisOfFile } from '../../helpers/redis/redis-of-file.js';
import { openRedis } from '../../helpers/redis/redis-world.js';

const { server, admin } = await redisOfFile();

const opened: Frontier[] = [];
const open = async (more: Partial<OpenOptions> = {}) => {
  const frontier = await openRedis(server.url, 'news', more);
  opened.push(frontier);
  return frontier;
};
beforeEach(async () => void (await admin.flushall()));
afterEach(async () => {
  for (const frontier of opened) expect(await frontier.verify()).toEqual([]);
  await Promise.all(opened.splice(0).map((frontier) => frontier.close()));
});

const key = 'news:start_urls';
/** The request of a seed is named by its text. */
const convert = (seeds: Awaited<ReturnType<Frontier['peekSeeds']>>): ConvertedSeed[] =>
  seeds.map((seed) => ({ seed, requests: [request(seed.value.toString())] }));
const peek = async (frontier: Frontier, max: number) =>
  (await frontier.peekSeeds(max)).map(({ value }) => value.toString());

describe('the order of seeds', () => {
  it('is that of a list from its head, so those of LPUSH come last in first out', async () => {
    const frontier = await open();
    await admin.lpush(key, 'first', 'second', 'third');
    await admin.rpush(key, 'last');
    expect(await peek(frontier, 10)).toEqual(['third', 'second', 'first', 'last']);
    await frontier.intake(convert(await frontier.peekSeeds(2)));
    expect(await admin.lrange(key, 0, -1)).toEqual(['first', 'last']);
  });

  it('is by the highest score in a sorted set', async () => {
    const frontier = await open({ startUrlsType: 'zset' });
    await admin.zadd(key, 1, 'low', 30, 'high', -5, 'lowest', 2.5, 'middle');
    expect(await peek(frontier, 3)).toEqual(['high', 'middle', 'low']);
    await frontier.intake(convert(await frontier.peekSeeds(3)));
    expect(await admin.zrange(key, 0, -1)).toEqual(['lowest']);
  });

  it('is none in a set, of which each member is taken once', async () => {
    const frontier = await open({ startUrlsType: 'set' });
    await admin.sadd(key, ...Array.from({ length: 50 }, (_, n) => `seed-${n}`));
    const first = await frontier.peekSeeds(20);
    expect(new Set(first.map(String)).size).toBeLessThanOrEqual(20);
    expect(await frontier.intake(convert(first))).toMatchObject({ accepted: 20 });
    expect(await frontier.intake(convert(await frontier.peekSeeds(100)))).toMatchObject({ accepted: 30 });
    expect(await admin.exists(key)).toBe(0);
  });

  it('is key after key where there are several, and each sets its own bad ones aside', async () => {
    const startUrls = ['urgent', key, 'someday'];
    const frontier = await open({ keys: { ...openOptions(server.url, 'news').keys, startUrls } });
    await admin.rpush('someday', 'e');
    await admin.rpush(key, 'c', 'd');
    await admin.rpush('urgent', 'a', 'b');
    expect(await peek(frontier, 4)).toEqual(['a', 'b', 'c', 'd']);
    const [a, b, c] = await frontier.peekSeeds(3);
    expect(await frontier.intake([{ seed: b!, bad: 'no' }, ...convert([c!, a!])])).toMatchObject({
      accepted: 2,
      bad: 1,
    });
    expect(await peek(frontier, 9)).toEqual(['d', 'e']);
    expect(await admin.lrange('urgent:bad', 0, -1)).toHaveLength(1);
    await frontier.intake((await frontier.peekSeeds(9)).map((seed) => ({ seed, bad: 'none' })));
    const bad = (await frontier.badSeeds(0, 9)).map((text) => JSON.parse(text).seed as string);
    expect(bad).toEqual(['b', 'd', 'e']);
    expect(await frontier.badSeeds(1, 1)).toMatchObject([expect.stringContaining('"d"')]);
  });
});

describe('intake from a list', () => {
  it('finds its batch though thousands of seeds were put before it meanwhile', async () => {
    const frontier = await open();
    await admin.rpush(key, 'a', 'b', 'c', 'a');
    const batch = await frontier.peekSeeds(3);
    const newer = Array.from({ length: 5_000 }, (_, n) => `newer-${n}`);
    await admin.lpush(key, ...newer);
    expect(await frontier.intake(convert(batch))).toMatchObject({ accepted: 3 });
    expect(await admin.lrange(key, 0, -1)).toEqual([...newer.reverse(), 'a']);
  });

  it('leaves what it does not find, and loses nothing of it', async () => {
    const frontier = await open();
    await admin.rpush(key, 'a', 'b');
    const batch = await frontier.peekSeeds(2);
    await admin.lrem(key, 1, 'a');
    expect(await frontier.intake(convert(batch))).toEqual({ accepted: 1, duplicates: 0, bad: 0 });
    expect(await admin.exists(key)).toBe(0);
  });
});

describe('a start_urls key of another type', () => {
  it.each([
    ['set', 'list', 'REDIS_START_URLS_AS_SET'],
    ['zset', 'list', 'REDIS_START_URLS_AS_ZSET'],
  ] as const)(
    'a %s where a %s was read before: is told with the setting, and nothing is lost',
    async (found, wanted, said) => {
      const frontier = await open({ startUrlsType: wanted });
      await admin.rpush(key, 'a');
      const batch = await frontier.peekSeeds(1);
      await admin.del(key);
      if (found === 'set') await admin.sadd(key, 'a', 'b');
      else await admin.zadd(key, 1, 'a', 2, 'b');
      const told = { code: 'foreign_key', message: expect.stringMatching(`${key} is a .*${said}`) };
      await expect(frontier.peekSeeds(1)).rejects.toMatchObject(told);
      await expect(frontier.intake(convert(batch))).rejects.toMatchObject(told);
      expect(await admin.type(key)).toBe(found);
      expect(await frontier.snapshot()).toMatchObject({ startUrls: 2, pending: 0 });
    },
  );

  it.each(['set', 'zset'] as const)(
    'a list where the settings say %s: the setting is to be removed',
    async (type) => {
      await admin.rpush(key, 'a');
      const setting = `REDIS_START_URLS_AS_${type.toUpperCase()}`;
      await expect(open({ startUrlsType: type })).rejects.toMatchObject({
        message: expect.stringContaining(`remove ${setting} to match, or delete the key`),
      });
    },
  );

  it('a list of bad seeds that is something else: the bad seed stays where it is', async () => {
    const frontier = await open();
    await admin.set(`${key}:bad`, 'mine');
    await admin.rpush(key, 'a');
    const [seed] = await frontier.peekSeeds(1);
    await expect(frontier.intake([{ seed: seed!, bad: 'no' }])).rejects.toMatchObject({
      code: 'foreign_key',
      message: expect.stringContaining(`${key}:bad`),
    });
    expect(await admin.lrange(key, 0, -1)).toEqual(['a']);
  });
});

it('a seed that is no text is set aside byte for byte', async () => {
  const frontier = await open();
  const bytes = Buffer.from([0xff, 0x00, 0xfe, 0x0a]);
  await admin.rpush(key, bytes);
  const [seed] = await frontier.peekSeeds(1);
  expect(seed?.value).toEqual(bytes);
  expect(await frontier.intake([{ seed: seed!, bad: 'binary' }])).toMatchObject({ bad: 1 });
  const [entry] = await admin.lrange(`${key}:bad`, 0, -1);
  expect(Buffer.from(JSON.parse(entry!).seed_base64, 'base64')).toEqual(bytes);
});
