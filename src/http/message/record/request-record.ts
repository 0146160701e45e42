/** A request as plain data: the codec stores it, a node leases it and `inspect` shows it. */

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
  readonly redirects: number;
  readonly cookies: Readonly<Record<string, string>> | null;
  readonly cookieJar: string | null;
  /** Instant of acceptance, ms. */
  readonly acceptedAtMs: number;
}

/** A request as the frontier stores it; made by `http/message/record/request-codec.ts`. */
export interface FrontierRequest {
  /** 40 hex digits: the fingerprint; for an unfiltered request a hash of fingerprint, parent and ordinal. */
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
  readonly unfiltered: boolean;
  /** The request becomes due this many ms after its acceptance; 0 is at once. */
  readonly delayMs?: number;
}
