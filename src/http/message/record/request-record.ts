/** A request as plain data: the codec stores it, a node leases it and `inspect` shows it. */
import type { RequestCookies } from '../request-cookies.js';

/** Anything that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
/** An object that JSON can hold. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** The seed that a request descends from, and whether it may connect to private addresses. */
export interface Origin {
  /** The first 8 hex digits of the seed's id. */
  readonly seed: string;
  /**
   * The request may connect to private addresses. It is a trusted seed (`startUrls`, `crawlnode seed`), or all pages
   * from such a seed to it came from private addresses (`inheritedOrigin`).
   */
  readonly private: boolean;
}

export interface RequestRecord {
  /** Absolute http(s) URL, as it is sent. */
  readonly url: string;
  /** Upper case. */
  readonly method: string;
  /** Names as given; a list for repeated headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | null;
  readonly meta: JsonObject;
  /** Scrapy's `cb_kwargs`; empty for none. */
  readonly cbKwargs: JsonObject;
  /** Names of spider methods. A null callback is `parse`; a null errback is none. */
  readonly callback: string | null;
  readonly errback: string | null;
  readonly priority: number;
  readonly dontFilter: boolean;
  readonly depth: number;
  readonly origin: Origin | null;
  /** Id of the page that yielded it; null unless the request's id depends on it (dontFilter). */
  readonly parent: string | null;
  /** HTTP attempts so far that ended in a retry. The frontier counts crashes separately. */
  readonly attempts: number;
  /** An earlier response to it was not valid HTTP: its next one is parsed leniently. */
  readonly lenient?: true;
  readonly redirects: number;
  readonly cookies: RequestCookies | null;
  readonly cookieJar: string | null;
  /** Instant of acceptance, ms. */
  readonly acceptedAtMs: number;
  /** The item that waits for the file which the request fetches; null for a page. */
  readonly waitingItem: WaitingItem | null;
}

/** What became of one URL of an item: an entry of `files` or `images`. */
export interface FileResult {
  /** As the item names it. */
  readonly url: string;
  /** Below FILES_STORE or IMAGES_STORE; null for a file that could not be fetched. */
  readonly path: string | null;
  /** MD5 in hex, as Scrapy has it; null for a file that could not be fetched. */
  readonly checksum: string | null;
  /** `uptodate`: it was in the store, and younger than FILES_EXPIRES or IMAGES_EXPIRES. */
  readonly status: 'downloaded' | 'uptodate' | 'failed';
  /** Why it failed, such as `http_404` or `timeout`; absent otherwise. */
  readonly reason?: string;
}

export interface WaitingItem {
  /** The id of the item once it is committed: that of its page's request, and its number in the page. */
  readonly id: string;
  /** The pipeline it waits in, as ITEM_PIPELINES names it. */
  readonly pipeline: string;
  /** As the pipeline got it. */
  readonly item: JsonObject;
  /** What became of its first URLs, in their order. */
  readonly files: readonly FileResult[];
}

/** A request as the frontier stores it; made by `http/message/record/request-codec.ts`. */
export interface FrontierRequest {
  /** 40 hex digits: the fingerprint; with dontFilter a hash of fingerprint, parent and ordinal. */
  readonly id: string;
  /** 40 hex digits, recorded by the dupefilter. */
  readonly fingerprint: string;
  /** The versioned JSON record, opaque to the frontier. */
  readonly record: string;
  /** The politeness key. */
  readonly domain: string;
  /** Integer within ±2³¹; higher goes first. */
  readonly priority: number;
  /** True for Scrapy's `dont_filter`: the dupefilter neither rejects nor records the request. */
  readonly dontFilter: boolean;
  /** The request becomes due this many ms after its acceptance; 0 is at once. */
  readonly delayMs?: number;
  /** It carries an item, so it is accepted even where links are dropped for a full queue. */
  readonly carriesItem?: true;
}

/**
 * The origin of the links and redirects of a page. They may connect to private addresses only if the page was allowed to
 * and came from a private address. So a crawl of an intranet follows links between its hosts. A public page never leads
 * to a private address, even if a private page or a trusted seed led to it.
 */
export function inheritedOrigin(origin: Origin | null, fromPrivateAddress: boolean): Origin | null {
  if (origin === null || !origin.private || fromPrivateAddress) return origin;
  return { seed: origin.seed, private: false };
}
