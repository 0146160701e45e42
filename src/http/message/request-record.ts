/** What a request is, as plain data: what the codec stores, what a node leases, what `inspect` shows. */

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

/** The seed a request descends from, and what it may reach. */
export interface Origin {
  /** The first 8 hex digits of the seed's id. */
  readonly seed: string;
  /**
   * The request may connect to private addresses: it is a trusted seed (`startUrls`, `crawlnode seed`), or everything
   * between such a seed and it came from private addresses (`inheritedOrigin`).
   */
  readonly private: boolean;
}

export interface RequestRecord {
  /** Absolute http(s) URL, as it goes on the wire. */
  readonly url: string;
  /** Upper case. */
  readonly method: string;
  /** Names as given; a list for repeated headers. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | null;
  readonly meta: JsonObject;
  /** Names of spider methods; null is `parse` and none. */
  readonly callback: string | null;
  readonly errback: string | null;
  readonly priority: number;
  readonly dontFilter: boolean;
  readonly depth: number;
  readonly origin: Origin | null;
  /** Id of the page that yielded it; kept where the request's identity depends on it (dontFilter). */
  readonly parent: string | null;
  /** HTTP attempts made so far that ended in a retry; crashes are counted apart, by the frontier. */
  readonly attempts: number;
  readonly redirects: number;
  readonly cookies: Readonly<Record<string, string>> | null;
  readonly cookieJar: string | null;
  /** Instant of acceptance, ms. */
  readonly acceptedAtMs: number;
}

/** A request as the frontier stores it; made by `http/message/request-codec.ts`. */
export interface FrontierRequest {
  /** 40 hex digits: the fingerprint, or for an unfiltered request a hash of it with parent and ordinal. */
  readonly id: string;
  /** 40 hex digits, what the dupefilter records. */
  readonly fingerprint: string;
  /** The versioned JSON record, opaque to the frontier. */
  readonly record: string;
  /** The politeness key. */
  readonly domain: string;
  /** Integer within ±2³¹; higher goes first. */
  readonly priority: number;
  /** True for Scrapy's `dont_filter`: the dupefilter neither refuses nor records it. */
  readonly unfiltered: boolean;
  /** Not before this many ms from acceptance; 0 for at once. */
  readonly delayMs?: number;
}
