/** What is looked at before a Redis is used: would it evict the frontier's keys, and are they really ours? */
import { RefusedError } from '../../errors.js';
import type { FrontierKeys, OpenOptions } from '../open.js';
import type { RedisConnection } from './connection.js';

/** @throws RefusedError where the frontier could be evicted, or a key holds another type. */
export async function refuseUnsafeStore(connection: RedisConnection, options: OpenOptions): Promise<void> {
  if (!options.allowEviction) await refuseEviction(connection);
  if (options.acceptForeignKeys !== true)
    await refuseForeignKeys(connection, options.keys, options.startUrlsType);
}

/**
 * A store with a memory limit and an `allkeys-*` policy drops whole queues without a word once it is full
 * (measured: those of two idle spiders). `volatile-*` and `noeviction` are fine: no key of ours expires.
 */
async function refuseEviction(connection: RedisConnection): Promise<void> {
  const memory = await connection.patiently(async (client) => {
    try {
      return await client.info('memory');
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOPERM')) return '';
      throw error;
    }
  });
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? '';
  const limit = Number(/^maxmemory:(\d+)/m.exec(memory)?.[1] ?? 0);
  if (limit === 0 || !policy.startsWith('allkeys-')) return;
  throw new RefusedError(
    `Redis may evict the frontier: maxmemory-policy is ${policy} with a maxmemory of ${limit} bytes. Set it to noeviction or volatile-lru (CONFIG SET maxmemory-policy noeviction), or set REDIS_ALLOW_EVICTION: true to run at that risk`,
    { code: 'eviction_policy' },
  );
}

/** @throws RefusedError naming the first key that holds another type than it should, and what to do. */
export async function refuseForeignKeys(
  connection: RedisConnection,
  keys: FrontierKeys,
  startUrlsType: OpenOptions['startUrlsType'],
): Promise<void> {
  const wanted = new Map([
    [keys.requests, 'hash'],
    [keys.dupefilter, 'set'],
    [keys.items, 'list'],
    [keys.stats, 'hash'],
    ...keys.startUrls.map((key) => [key, startUrlsType] as const),
  ]);
  for (const [key, type] of wanted) {
    const found = await connection.patiently((client) => client.type(key));
    if (found === 'none' || found === type) continue;
    throw new RefusedError(foreignKey(key, found, type, keys), { code: 'foreign_key' });
  }
}

function foreignKey(key: string, found: string, wanted: string, keys: FrontierKeys): string {
  if (key === keys.requests && (found === 'zset' || found === 'list')) {
    return `${key} is a ${found.toUpperCase()}, left by Scrapy-Redis (its pickled queue cannot be taken over); run crawlnode reset for this spider, then seed again`;
  }
  if (keys.startUrls.includes(key)) {
    return `${key} is a ${found.toUpperCase()}, the settings say ${wanted.toUpperCase()}: set ${found === 'set' ? 'REDIS_START_URLS_AS_SET' : 'REDIS_START_URLS_AS_ZSET'} to match, or delete the key`;
  }
  return `${key} is a ${found.toUpperCase()} and must be a ${wanted.toUpperCase()}; it belongs to something else: delete or rename it, or change its key setting`;
}
