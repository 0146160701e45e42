/** Opens the frontier of one spider and job with the engine of the settings. The engines are loaded lazily. */
import { UsageError } from '../errors.js';
import type { Frontier } from './frontier.js';
import type { OpenOptions, Salvaged, Store } from './open-options.js';

/** @throws FrontierUnavailableError when the store cannot be reached or refuses us; RefusedError when it must not be used. */
export async function openFrontier(options: OpenOptions): Promise<Frontier> {
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
    const { findInRedis } = await import('./redis/crawl/find-crawls.js');
    return findInRedis(store.address, connectTimeoutMs, nameParts);
  }
  const { findInFolder } = await import('./embedded/crawl/find-crawls.js');
  return { names: await findInFolder(store.dir), isCut: false };
}

/** Remember where a backup is, for the day that the store is damaged. A Redis has nowhere but itself to keep that. */
export async function noteBackup({ store, keys }: OpenOptions, file: string): Promise<void> {
  if (store.engine === 'redis') return;
  const last = await import('./embedded/backup/last-backup.js');
  last.noteBackup(store.dir, keys.requests, { file, madeAt: new Date().toISOString() });
}

/**
 * Copy all readable data of a damaged store (`DamagedStoreError`) into a new store, and keep the damaged file. Each crawl
 * stays paused until `Frontier.repair` has corrected its counters.
 * @throws RefusedError while other processes use the store, unless `force`.
 */
export async function salvageStore({ store, shape, keys }: OpenOptions, force: boolean): Promise<Salvaged> {
  if (store.engine === 'redis')
    throw new UsageError('a Redis is saved by its own tools: redis-check-aof, redis-check-rdb');
  const [{ salvage }, { lastBackup }] = await Promise.all([
    import('./embedded/care/salvage.js'),
    import('./embedded/backup/last-backup.js'),
  ]);
  const backup = lastBackup(store.dir, keys.requests);
  return { ...salvage(store.dir, shape, force), ...(backup !== undefined && { backup }) };
}
