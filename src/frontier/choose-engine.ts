/** Opens the frontier of one spider and job with the engine of the settings. The engines are loaded lazily. */
import { UsageError } from '../errors.js';
import type { Frontier } from './frontier.js';
import type { OpenOptions, Salvaged, Store } from './open-options.js';

/** @throws FrontierUnavailableError when the store cannot be reached or refuses us; RefusedError when it must not be used. */
export async function openFrontier(options: OpenOptions): Promise<Frontier> {
  if (options.partitions !== undefined) {
    const { openPartitions } = await import('./partitions/open-partitions.js');
    return openPartitions(options, options.partitions);
  }
  if (options.store.engine === 'redis') {
    const { openRedisFrontier } = await engines.redis();
    return openRedisFrontier(options, options.store.address);
  }
  const { openEmbedded } = await engines.embedded();
  return openEmbedded(options, options.store.dir);
}

/**
 * Start the background thread of a store, which also runs while the main loop is blocked. It writes the log of the
 * embedded engine to the disk each second. Redis needs none.
 * @returns a function that ends it.
 */
export async function syncStore({ store }: OpenOptions): Promise<(() => Promise<void>) | null> {
  if (store.engine === 'redis') return null;
  const { syncEachSecond, walIn } = await import('./embedded/file/wal.js');
  return syncEachSecond(walIn(store.dir));
}

/** Load the code of a store's engine before a frontier is opened. */
export async function loadEngine({ engine }: Store): Promise<void> {
  await engines[engine]();
}

const engines = {
  redis: () => import('./redis/redis-frontier.js'),
  embedded: () => import('./embedded/embedded-frontier.js'),
};

/**
 * The names of the requests keys of all crawls in a store, sorted. In Redis only those that begin and end (before `@job`)
 * with `nameParts`.
 * @returns `isCut` when a Redis has so many keys that not all were examined.
 */
export async function findCrawls(
  store: Store,
  connectTimeoutMs: number,
  nameParts: readonly [before: string, after: string],
): Promise<{ readonly names: readonly string[]; readonly isCut: boolean }> {
  if (store.engine === 'redis') {
    const { findInRedis } = await import('./redis/read/find-crawls.js');
    return findInRedis(store.address, connectTimeoutMs, nameParts);
  }
  const { findInFolder } = await import('./embedded/read/find-crawls.js');
  return { names: await findInFolder(store.dir), isCut: false };
}

/**
 * Copy all readable data of a damaged store (`DamagedStoreError`) into a new store, and keep the damaged file. Each crawl
 * stays paused until `Frontier.repair` has corrected its counters.
 * @throws RefusedError while other processes use the store, unless `force`.
 */
export async function salvageStore({ store, shape }: OpenOptions, force: boolean): Promise<Salvaged> {
  if (store.engine === 'redis')
    throw new UsageError('a Redis is saved by its own tools: redis-check-aof, redis-check-rdb');
  const { salvage } = await import('./embedded/care/salvage.js');
  return salvage(store.dir, shape, force);
}
