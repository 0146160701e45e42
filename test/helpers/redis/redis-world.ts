/** Fresh crawls in a Redis, each under a spider's name of its own, with any number of clients. */
import { Redis } from 'ioredis';
import type { Frontier, Shape } from '../../../src/frontier/frontier.js';
import type { OpenOptions } from '../../../src/frontier/open-options.js';
import { openRedisFrontier } from '../../../src/frontier/redis/redis-frontier.js';
import { type ForeignHand, type StoreClock, type World, worldOf } from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../open-options.js';

/** One client of a crawl in the Redis of a URL. */
export async function openRedis(
  url: string,
  spider: string,
  more: Partial<OpenOptions> = {},
): Promise<Frontier> {
  const options = openOptions(url, spider, more);
  if (options.store.engine !== 'redis') throw new Error(`${url} is not a Redis`);
  return openRedisFrontier(options, options.store.address);
}

let crawls = 0;

/**
 * Options of clients whose calls are to fail: a client that has just joined repeats a call as long as its connection may take,
 * any other for 3 s.
 */
export const soonGivingUp = { connectTimeoutMs: 3_000 } satisfies Partial<OpenOptions>;

function redisHand(url: string, spider: string): ForeignHand {
  const byHand = async <T>(act: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url);
    try {
      return await act(redis);
    } finally {
      redis.disconnect();
    }
  };
  return {
    deleteSeen: () =>
      byHand(async (redis) => {
        await redis.unlink(`${spider}:dupefilter`, ...(await redis.keys(`${spider}:dupefilter:~*`)));
      }),
    renameDupefilter: (name) =>
      byHand(async (redis) => {
        await redis.hset(`${spider}:requests:~meta`, 'dupefilter', JSON.stringify({ class: name }));
      }),
    makeDue: ({ id }) =>
      byHand(async (redis) => {
        const key = `${spider}:requests:~delayed`;
        for (const entry of await redis.zrangeBuffer(key, 0, -1))
          if (entry.includes(Buffer.from(id, 'hex'))) await redis.zadd(key, 0, entry);
      }),
    setAccepted: (count) =>
      byHand(async (redis) => void (await redis.hset(`${spider}:requests:~meta`, 'accepted', count))),
    deleteRecord: ({ id }) =>
      byHand(async (redis) => void (await redis.hdel(`${spider}:requests`, Buffer.from(id, 'hex')))),
    left: () => byHand((redis) => redis.keys(`${spider}:*`)),
  };
}

/** A crawl that nobody has begun; its clients end with `dispose()`. */
export function redisWorld(
  url: string,
  more: Partial<OpenOptions> = {},
  clock?: StoreClock,
): World & { readonly spider: string } {
  crawls += 1;
  const spider = `spider${crawls}`;
  const open = (shape?: Partial<Shape>) =>
    openRedis(url, spider, { shape: { ...defaultShape, ...shape }, ...more });
  return { ...worldOf(open, undefined, redisHand(url, spider), clock), spider };
}
