/** What a page costs by the benches: the only figures that `crawlnode plan` calculates with, beside those of a measured crawl. */
import type { Shape } from '../../frontier/frontier.js';

/** The costs that depend on the pages, so that a crawl of yours gives better ones than a bench. */
export interface PageCosts {
  /** CPU time of a node. */
  readonly nodeMs: number;
  /** CPU time of redis-server, with the default dupefilter. */
  readonly redisMs: number;
  /** Received from the site. */
  readonly bytes: number;
  /** Downloads, with retries and redirects. */
  readonly downloads: number;
  /** How long a page takes a slot, from its lease to its commit. */
  readonly slotMs: number;
  /** The most requests that wait at the same time, as a share of all. */
  readonly waitingShare: number;
}

/**
 * `npm run bench`, 24 November 2026: a node on python3-doc, whose real pages have 97 KB on average, and redis-server on 100 domains. No
 * bench knows how long sites take to answer, or how many requests wait: a second, and all of them, are assumptions.
 */
export const benchedPage: PageCosts = {
  ...{ nodeMs: 1.23, redisMs: 0.093, bytes: 97_000, downloads: 1 },
  ...{ slotMs: 1_000, waitingShare: 1 },
};

/** What hardly depends on the pages. */
export const benched = {
  /** Memory of a node: `npm run bench:soak`. */
  nodeBytes: 216e6,
  /** Between a node and Redis, both ways: `npm run bench`. */
  redisTrafficBytes: 1_150,
  /** A waiting request with a URL of 60 bytes, and what each domain adds: `npm run bench:frontier -- memory`. */
  requestBytes: 357,
  domainBytes: 276,
  /** A Redis with the functions, the nodes and the telemetry of a crawl, but without requests: `npm run bench:capacity`. */
  emptyRedisBytes: 3e6,
} as const;

type DupefilterClass = Shape['dupefilter']['class'];

/** Memory and CPU time of redis-server for a URL: `npm run bench:dupefilters`, 10⁶ URLs. */
export const benchedDupefilters: Readonly<
  Record<DupefilterClass, { readonly bytes: number; readonly redisMs: number }>
> = {
  RFPDupeFilter: { bytes: 88.6, redisMs: 0.0047 },
  TimedRFPDupeFilter: { bytes: 126, redisMs: 0.0044 },
  StateDupeFilter: { bytes: 88.6, redisMs: 0.0046 },
  BloomDupeFilter: { bytes: 2.06, redisMs: 0.014 },
  CompactDupeFilter: { bytes: 9.6, redisMs: 0.0091 },
};
