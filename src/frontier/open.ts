/** Open the frontier of one spider and job, by the engine the settings name; the engines load lazily. */
import { UsageError } from '../errors.js';
import type { Frontier, Shape } from './frontier.js';
import type { Salvaged } from './salvaged.js';

/** Key names with their templates already expanded for spider and job (see `settings/keys.ts`). */
export interface FrontierKeys {
  /** The HASH id → record; every internal key is this name + `:~` + a word. */
  readonly requests: string;
  readonly dupefilter: string;
  /** In the order they are read. */
  readonly startUrls: readonly string[];
  readonly items: string;
  readonly stats: string;
}

/** Where Redis is; plain data, since the heartbeat thread opens its own connection from it. */
export type RedisAddress =
  | {
      readonly kind: 'standalone';
      readonly url: string | null;
      readonly options: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'sentinel'; readonly options: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'cluster';
      readonly nodes: readonly { readonly host: string; readonly port: number }[];
      readonly options: Readonly<Record<string, unknown>>;
    };

export type Store =
  | { readonly engine: 'redis'; readonly address: RedisAddress }
  | { readonly engine: 'embedded'; readonly dir: string };

/** Plain data all through: it is handed to the heartbeat thread as it is. */
export interface OpenOptions {
  readonly store: Store;
  readonly keys: FrontierKeys;
  readonly startUrlsType: 'list' | 'set' | 'zset';
  /** SEEDS_FILTERED: external seeds pass the dupefilter too. */
  readonly seedsFiltered: boolean;
  /** What every client of the crawl must share: a seed pushed before the first node needs it as much as a node. */
  readonly shape: Shape;
  /** Use a Redis whose maxmemory-policy may evict the frontier's keys all the same. */
  readonly allowEviction: boolean;
  /**
   * Open even where a key holds a foreign type, such as a queue left by Scrapy-Redis, or the crawl is kept in another
   * data format: only to examine, count and clear.
   */
  readonly acceptForeignKeys?: boolean;
  /** For how long the first connection is tried before giving up with FrontierUnavailableError. */
  readonly connectTimeoutMs: number;
}

/** @throws FrontierUnavailableError when the store cannot be reached or refuses us; RefusedError when it must not be used. */
export async function openFrontier(options: OpenOptions): Promise<Frontier> {
  if (options.store.engine === 'redis') {
    const { RedisFrontier } = await engines.redis();
    return RedisFrontier.open(options, options.store.address);
  }
  const { EmbeddedFrontier } = await engines.embedded();
  return EmbeddedFrontier.open(options, options.store.dir);
}

/**
 * Start what a store needs while the main loop stands still, in a thread that goes on meanwhile: the log of the embedded
 * engine is brought to the disk each second. Redis needs nothing.
 */
export async function syncStore({ store }: OpenOptions): Promise<{ end(): Promise<void> } | null> {
  if (store.engine === 'redis') return null;
  const { syncEachSecond, walIn } = await import('./embedded/wal.js');
  return syncEachSecond(walIn(store.dir));
}

/** Load the code of a store's engine, for who knows a better time for it than when a frontier is opened. */
export async function loadEngine({ engine }: Store): Promise<void> {
  await engines[engine]();
}

const engines = {
  redis: () => import('./redis/redis-frontier.js'),
  embedded: () => import('./embedded/embedded-frontier.js'),
};

/**
 * The crawls a store holds, by the names of their requests keys, sorted; in Redis only those whose name begins and ends
 * (before `@job`) with these texts.
 * @returns `isCut` when a Redis holds so many keys that not all were looked at.
 */
export async function findCrawls(
  store: Store,
  connectTimeoutMs: number,
  nameParts: readonly [before: string, after: string],
): Promise<{ readonly names: readonly string[]; readonly isCut: boolean }> {
  if (store.engine === 'redis') {
    const { findInRedis } = await import('./redis/find-crawls.js');
    return findInRedis(store.address, connectTimeoutMs, nameParts);
  }
  const { findInFolder } = await import('./embedded/find-crawls.js');
  return { names: await findInFolder(store.dir), isCut: false };
}

/**
 * Save what can be read of a damaged store (`DamagedStoreError`) into a new one, and keep the damaged file aside. Every crawl
 * in it stays paused until `Frontier.repair` has put its counters right.
 * @throws RefusedError while other processes use the store, unless `force`.
 */
export async function salvageStore({ store, shape }: OpenOptions, force: boolean): Promise<Salvaged> {
  if (store.engine === 'redis')
    throw new UsageError('a Redis is saved by its own tools: redis-check-aof, redis-check-rdb');
  const { salvage } = await import('./embedded/damage/salvage.js');
  return salvage(store.dir, shape, force);
}
