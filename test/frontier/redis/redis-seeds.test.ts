/** External seeds as producers put them into Redis: lists, sets, sorted sets, several keys, and what goes wrong there. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConvertedSeed, Frontier } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { request } from '../../frontier-contract/world.js';
import { joinAs } from '../../helpers/joining.js';
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

describe('seeds of a stream', () => {
  const group = async () => {
    const [found] = (await admin.xinfo('GROUPS', key)) as [unknown[]?];
    if (found === undefined) return null;
    const field = (name: string) => found[found.indexOf(name) + 1];
    return { name: field('name'), pending: field('pending'), read: field('entries-read') };
  };
  const openStream = () => open({ startUrlsType: 'stream' });
  const add = async (...seeds: string[]) => {
    const ids = [];
    for (const seed of seeds) ids.push(await admin.xadd(key, '*', 'url', seed));
    return ids as string[];
  };
  const waiting = async (frontier: Frontier) => (await frontier.snapshot()).startUrls;
  /** An own node, whose empty lease says how the crawl stands. */
  const stateOf = async (frontier: Frontier) => {
    const { crawl } = await frontier.lease(0, 0);
    return { finished: crawl.finished, seedsWaiting: crawl.seedsWaiting, lost: crawl.lost };
  };

  it('are read in order by a group of the crawl, each once, and stay in the stream', async () => {
    const [frontier, other] = [await openStream(), await openStream()];
    await add('a', 'b', 'c', 'd', 'e');
    expect(await peek(frontier, 3)).toEqual(['a', 'b', 'c']);
    const [mine, theirs] = [await frontier.peekSeeds(3), await other.peekSeeds(5)];
    expect(await frontier.intake(convert(mine))).toMatchObject({ accepted: 3 });
    expect(await waiting(frontier)).toBe(2);
    expect(await other.intake(convert(theirs))).toMatchObject({ accepted: 2, duplicates: 0 });
    expect(await frontier.intake(convert(mine))).toMatchObject({ accepted: 0, duplicates: 0 });
    expect(await peek(frontier, 9)).toEqual([]);
    expect(await frontier.snapshot()).toMatchObject({ startUrls: 0, accepted: 5, lost: 0 });
    expect(await group()).toEqual({ name: 'news:requests', pending: 0, read: 5 });
    expect(await admin.xlen(key)).toBe(5);
  });

  it('are the only field of an entry, or its field data, or all fields as JSON', async () => {
    const frontier = await openStream();
    await admin.xadd(key, '*', 'anything', 'a');
    await admin.xadd(key, '*', 'by', 'me', 'data', 'b');
    await admin.xadd(key, '*', 'url', 'c', 'callback', 'parsePage');
    expect(await peek(frontier, 9)).toEqual(['a', 'b', '{"url":"c","callback":"parsePage"}']);
    const [seed] = await frontier.peekSeeds(1);
    expect(await frontier.intake([{ seed: seed!, bad: 'no' }])).toMatchObject({ bad: 1 });
    expect(await frontier.badSeeds(0, 9)).toMatchObject([expect.stringContaining('"a"')]);
    expect(await waiting(frontier)).toBe(2);
  });

  it('that were deleted before they were read are passed over, and the crawl is complete without them', async () => {
    const frontier = await openStream();
    await joinAs(frontier);
    const ids = await add('a', 'b', 'c', 'd', 'e', 'f');
    const batch = await frontier.peekSeeds(4);
    await admin.xdel(key, ids[1]!);
    expect(await frontier.intake(convert(batch))).toMatchObject({ accepted: 3 });
    await admin.xdel(key, ids[5]!);
    expect(await stateOf(frontier)).toMatchObject({ seedsWaiting: 1, lost: 0 });
    await admin.xdel(key, ids[4]!);
    expect(await stateOf(frontier)).toMatchObject({ seedsWaiting: 0, lost: 0 });
  });

  it.each([2, 0])('that were trimmed before they were read are lost, with %i left of them', async (left) => {
    const frontier = await openStream();
    await joinAs(frontier);
    await add('gone', 'early');
    await admin.xtrim(key, 'MAXLEN', 1);
    await add('b', 'c', 'd', 'e', 'f');
    await frontier.intake(convert(await frontier.peekSeeds(2)));
    await admin.xtrim(key, 'MAXLEN', 4);
    expect(await stateOf(frontier)).toMatchObject({ seedsWaiting: 4, lost: 0 });
    await admin.xtrim(key, 'MAXLEN', left);
    expect(await stateOf(frontier)).toMatchObject({ seedsWaiting: left, lost: 4 - left });
    await frontier.intake(convert(await frontier.peekSeeds(9)));
    await add('later');
    await frontier.intake(convert(await frontier.peekSeeds(9)));
    expect(await stateOf(frontier)).toMatchObject({ seedsWaiting: 0, lost: 4 - left });
    expect(await frontier.snapshot()).toMatchObject({
      counters: { 'scheduler/seeds_trimmed': 4 - left },
      accepted: 2 + 4 + 1,
    });
  });

  it('stay in a reset, which has them read anew, and are no part of a backup', async () => {
    const frontier = await openStream();
    await add('a', 'b');
    await frontier.intake(convert(await frontier.peekSeeds(1)));
    expect(await frontier.count()).toMatchObject({ start_urls: 0 });
    await frontier.clear(['queue', 'dupefilter', 'start_urls'], { force: false });
    expect(await group()).toBeNull();
    expect(await peek(frontier, 9)).toEqual(['a', 'b']);
    expect(await waiting(frontier)).toBe(2);
  });

  it('are added in order, and other groups of the stream do not matter', async () => {
    const frontier = await openStream();
    await admin.xgroup('CREATE', key, 'others', '0', 'MKSTREAM');
    await frontier.appendSeeds(['a', 'b', 'c']);
    await admin.xreadgroup('GROUP', 'others', 'me', 'COUNT', 2, 'STREAMS', key, '>');
    expect(await peek(frontier, 9)).toEqual(['a', 'b', 'c']);
    expect(await frontier.intake(convert(await frontier.peekSeeds(9)))).toMatchObject({ accepted: 3 });
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
    ['stream', 'list', 'REDIS_START_URLS_AS_STREAM'],
  ] as const)(
    'a %s where a %s was read before: is told with the setting, and nothing is lost',
    async (found, wanted, said) => {
      const frontier = await open({ startUrlsType: wanted });
      await admin.rpush(key, 'a');
      const batch = await frontier.peekSeeds(1);
      await admin.del(key);
      if (found === 'set') await admin.sadd(key, 'a', 'b');
      else if (found === 'zset') await admin.zadd(key, 1, 'a', 2, 'b');
      else for (const seed of ['a', 'b']) await admin.xadd(key, '*', 'url', seed);
      const told = { code: 'foreign_key', message: expect.stringMatching(`${key} is a .*${said}`) };
      await expect(frontier.peekSeeds(1)).rejects.toMatchObject(told);
      await expect(frontier.intake(convert(batch))).rejects.toMatchObject(told);
      expect(await admin.type(key)).toBe(found);
      expect(await frontier.snapshot()).toMatchObject({ startUrls: 2, pending: 0 });
    },
  );

  it.each(['set', 'zset', 'stream'] as const)(
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
