/** The options that open a frontier: the store, the keys of the crawl, and the settings that all its clients share. */
import type { FrontierKeys } from '../settings/keys.js';
import type { Shape } from './types/crawl.js';

export type { FrontierKeys };

/** The address of Redis. It is plain data, since the heartbeat thread uses it for its own connection. */
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

/** Only plain data, since it is passed to the heartbeat thread. */
export interface OpenOptions {
  readonly store: Store;
  readonly keys: FrontierKeys;
  readonly startUrlsType: 'list' | 'set' | 'zset' | 'stream';
  /** SEEDS_FILTERED: external seeds pass the dupefilter too. */
  readonly seedsFiltered: boolean;
  /** Settings that every client of the crawl must share, including a client that pushes a seed before the first node. */
  readonly shape: Shape;
  /** Use a Redis whose maxmemory-policy may evict the frontier's keys all the same. */
  readonly allowEviction: boolean;
  /** REDIS_WAIT_REPLICAS: replicas of Redis that must have a write before it counts. The default is 0. */
  readonly waitReplicas?: number;
  /**
   * Open the frontier even if a key has a foreign type, such as a queue left by Scrapy-Redis, or the crawl has another
   * data format. Only for examining, counting and clearing.
   */
  readonly acceptForeignKeys?: boolean;
  /** After this time without a first connection, FrontierUnavailableError is thrown. */
  readonly connectTimeoutMs: number;
}

/** The result of salvaging a damaged store. */
export interface Salvaged {
  /** The number of saved rows of each table. */
  readonly saved: Readonly<Record<string, number>>;
  /** The tables of which not everything could be read. */
  readonly unreadable: readonly string[];
  /** A sentence for each known loss, from comparing the readable counters with the saved rows. */
  readonly lost: readonly string[];
  /** The requests keys of all crawls of the store. Each crawl must be repaired. */
  readonly crawls: readonly string[];
  /** The last backup of this crawl, where one is known. */
  readonly backup?: { readonly file: string; readonly madeAt: string };
  /** Where the damaged file is kept. */
  readonly damagedFile: string;
}
