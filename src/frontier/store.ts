/** What a frontier is opened with: the store, the keys of the crawl, and what all its clients share. */
import type { Shape } from './crawl-types.js';

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

/** What was saved of a damaged store. */
export interface Salvaged {
  /** Rows of each table that are in the new store. */
  readonly saved: Readonly<Record<string, number>>;
  /** Pages, and rows of other pages, that could not be read. */
  readonly unreadable: { readonly pages: number; readonly rows: number };
  /** A sentence for each thing that is known to be lost, by the counters that could be read. */
  readonly lost: readonly string[];
  /** Names of all crawls of the store, by their requests keys: each waits for its repair. */
  readonly crawls: readonly string[];
  /** Where the damaged file is kept. */
  readonly damagedFile: string;
}
