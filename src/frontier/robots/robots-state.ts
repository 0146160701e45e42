/**
 * What the nodes of a crawl share of the robots.txt of an origin (`https://example.com`), and its verbs' arguments.
 *
 * ```
 *                 robots()              storeRobots()
 *   (unknown) ──────────────► claimed ───────────────► rules ─────── expiry ──► (unknown)
 *       ▲                      ▲   │ ├── unreachable ► unreachable ─ expiry ──► (unknown)
 *       │          robots()    │   │ └── failed, later ► waiting
 *       └── after a day        └───┼──────────────────────┘
 *                                  └─ the claiming node died: the next robots() claims it again
 * ```
 */

/** Rules are kept for a day at most (RFC 9309 §2.4). */
export const MAX_ROBOTS_MS = 24 * 60 * 60 * 1000;
/** RFC 9309 §2.5: at least so much of a robots.txt must be read. No more is. */
export const MAX_ROBOTS_BYTES = 500 * 1024;
/** While a fetch is under way, the domain of a request that waits for it rests for so long at least, and at most. */
export const LEAST_ROBOTS_REST_MS = 25;
export const MOST_ROBOTS_REST_MS = 1_000;

export type RobotsAnswer =
  /** The text of the robots.txt, which holds for `forMs` more; empty when everything is allowed. */
  | { readonly kind: 'rules'; readonly text: string; readonly forMs: number }
  /** This node is to fetch it, and to end that with `storeRobots`. The domain rests for a moment. */
  | { readonly kind: 'fetch'; readonly claim: RobotsClaim }
  /** It is being fetched, or is to be fetched again later. The domain rests for `forMs`: release the lease. */
  | { readonly kind: 'wait'; readonly forMs: number }
  /** It could not be fetched, and requests of the origin fail for `forMs` more. */
  | Unreachable;

/** It cannot be fetched. */
export interface Unreachable {
  readonly kind: 'unreachable';
  /** Of the last attempt, such as `dns_not_found`; `robots_unreachable` where the server answered with an error. */
  readonly reason: string;
  /** A sentence. */
  readonly why: string;
  readonly forMs: number;
}

/** The right of one incarnation to fetch a robots.txt, until it stores a result or is declared dead. */
export interface RobotsClaim {
  readonly origin: string;
  /** The domain of the request that needs it. */
  readonly domain: string;
  readonly token: string;
  /** Where to go on after redirects of an earlier fetch; null at the start. */
  readonly url: string | null;
  /** Redirects followed so far. */
  readonly hops: number;
  /** Fetches in a row that failed. */
  readonly failures: number;
  /** The Crawl-delay of the rules before, in ms; 0 without. */
  readonly delayMs: number;
}

/** How a fetch ended. */
export type RobotsResult =
  | { readonly kind: 'rules'; readonly text: string; readonly forMs: number; readonly delayMs: number }
  /** Fetch it again after a time. It counts as a failure. */
  | { readonly kind: 'failed'; readonly afterMs: number }
  /** Go on with a redirect, or fetch it again, after a time. It does not count as a failure. */
  | { readonly kind: 'later'; readonly url: string | null; readonly hops: number; readonly afterMs: number }
  /** Give up for a time. */
  | Unreachable;
