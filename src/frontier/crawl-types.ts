/** What a crawl is made of: the settings its nodes share, its parts, and the states of its requests. */

export type Engine = 'redis' | 'embedded';

export type Control = 'running' | 'paused' | 'stopping';

/**
 * The record of fingerprints accepted, with what its class needs to know (DESIGN §6). It is agreed with the first
 * request or node of a crawl: two classes never write into one record. Compact keeps the first 64 bits of each.
 */
export type Dupefilter =
  | { readonly class: 'RFPDupeFilter' | 'StateDupeFilter' | 'CompactDupeFilter' }
  /**
   * `expireMs` after it was last accepted a fingerprint is forgotten, however often it was met meanwhile; 0 is never.
   */
  | { readonly class: 'TimedRFPDupeFilter'; readonly expireMs: number }
  /**
   * `capacity` fingerprints a slice; `errorRate` is the share of new requests taken for seen, at capacity, and at
   * most twice that beyond (`bloom-sizing.ts`).
   */
  | { readonly class: 'BloomDupeFilter'; readonly capacity: number; readonly errorRate: number };

/** What all nodes of a crawl must share; another shape is refused (exit 3), naming both values. */
export interface Shape {
  readonly queueClass: 'PriorityQueue' | 'FifoQueue' | 'LifoQueue';
  readonly dupefilter: Dupefilter;
  readonly fingerprinter: string;
  readonly domainKey: 'host' | 'registered';
  readonly persist: boolean;
}

/** Crawl-wide knobs; the latest `crawl` wins for all nodes. */
export interface Tunables {
  readonly delayMs: number;
  /** Each delay is drawn between 1 and 1.5 times `delayMs`: never shorter, so the promise on delays holds. */
  readonly randomizeDelay: boolean;
  readonly concurrencyPerDomain: number;
  readonly nodeTimeoutMs: number;
  readonly failedLimit: number;
  /**
   * Pending and delayed requests at which the intake of seeds pauses; at twice as many discovered requests are
   * dropped. 0 is no limit. Start requests and seeds that are pushed, retries and what is given back never are.
   */
  readonly queueLimit: number;
}

/**
 * Ends of a run, counted over all nodes since it started; 0 is no limit. Pages are downloads that were started; a
 * page is reserved when it is leased, so there is never one more. The first page that reaches the number of items
 * commits whole, and closes the run; pages with items that come later are given back. Errors are exceptions in
 * spider code; what is in work then is finished, as it is when the time is up.
 */
export interface Budgets {
  readonly maxPages: number;
  readonly maxItems: number;
  readonly maxErrors: number;
  /** On the store's clock, from the start of the run. */
  readonly maxRunMs: number;
}

export type Part = 'queue' | 'dupefilter' | 'start_urls' | 'items' | 'stats' | 'failed';

export const allParts: readonly Part[] = ['queue', 'dupefilter', 'start_urls', 'items', 'stats', 'failed'];

export type PartCounts = Readonly<Record<Part, number>>;

export interface FailedRequest {
  readonly id: string;
  readonly record: string | null;
  readonly reason: string;
  readonly status: number | null;
  readonly attempts: number;
  readonly crashes: number;
  readonly node: string;
  readonly failedAtMs: number;
  readonly detail: string | null;
}

export type RequestState = 'pending' | 'delayed' | 'leased' | 'failed' | 'seen' | 'unknown';

/**
 * The last thing that happened to a request, as a StateDupeFilter records it: accepted (pending, or delayed), leased,
 * retried (delayed), done, failed, given back by release or recovery (pending). Being accepted or retried from the
 * failed list begins it anew.
 */
export interface RequestLife {
  readonly state: 'pending' | 'leased' | 'delayed' | 'done' | 'failed';
  readonly atMs: number;
  /** HTTP status of the last attempt; null before the first, and where there was no answer. */
  readonly status: number | null;
  readonly attempts: number;
}
