/** A lease, how it ends, and what is committed when it ends. */
import type { CookieChange, CookieNews } from '../../http/cookies/stored-cookie.js';
import type { StatChange } from '../../stats/stat-change.js';
import type { Control } from './crawl.js';
import type { FrontierRequest, PushAnswer } from './requests.js';

export type { CookieChange, CookieNews, StatChange };

/** The right to process one request until it is settled or this incarnation is declared dead. */
export interface Lease {
  readonly id: string;
  readonly token: string;
  readonly record: string;
  readonly domain: string;
  /**
   * The domain's delay in ms; 0 when it has none. With a delay the download must begin at once: another
   * node may lease the next request of the domain as soon as the delay has passed.
   */
  readonly delayMs: number;
  /** How often a node died while processing it; ≥ 1 makes it a suspect, leased alone. */
  readonly crashes: number;
}

/**
 * What is wrong with a crawl that stands still though requests are left. `suspected`: their indexes are gone, but not yet for
 * `STALL_MS`. `rebuild`: this node is to call `rebuild`. `hopeless`: that did not help.
 */
export type Stall = 'suspected' | 'rebuild' | 'hopeless';

/** The state of the crawl, which the store returns with every lease answer. */
export interface CrawlState {
  readonly control: Control;
  /**
   * True completion: nothing pending, delayed, leased or suspect, no seed waiting, start requests pushed, running, no item
   * waiting for a pipeline of this node, and the hooks for an idle crawl have nothing to add.
   */
  readonly finished: boolean;
  /** Null while the crawl goes on, waits for something, or is over. */
  readonly stall: Stall | null;
  /** All is done but asking the hooks for an idle crawl, which no node does now (`claimIdle`). */
  readonly idleDue: boolean;
  /** Requests accepted in this run so far; 0 lets a node wait for its first seed. */
  readonly acceptedInRun: number;
  /** What the store has just mended and the user should know, as sentences; absent where nothing. */
  readonly notices?: readonly string[];
  /** Why this run is closing, such as `closespider_pagecount`; null while it goes on. */
  readonly closing: string | null;
  /** External seeds waiting in the start_urls keys. */
  readonly seedsWaiting: number;
  /** How long no request has been pending, delayed or leased. */
  readonly idleMs: number;
  /** By how much the crawl's clock is ahead of that of its store, which was set back; else 0. */
  readonly clockAheadMs: number;
  /** Pending and delayed requests are at the limit of the queue. Seeds stay in their keys until there is room. */
  readonly full: boolean;
  /** Requests whose records have vanished from the store since the crawl began. `finished` does not look at it, but a crawl with losses is not cleared at its end. */
  readonly lost: number;
  /** Records in no queue of which nobody can tell whether they are lost requests or done ones, as somebody has put their key back as it was earlier; on Redis alone. They are not crawled. */
  readonly cameBack?: number;
  /**
   * Fingerprints that vanished from the dupefilter by another hand since it was last emptied: somebody deleted its keys or
   * rows, or Redis evicted them. The epoch has risen with each.
   */
  readonly seenGone: number;
  /** Somebody set a time to live on a key of the dupefilter; always false on the embedded engine. */
  readonly seenExpires: boolean;
}

export interface LeaseAnswer {
  readonly leases: readonly Lease[];
  /** 0 to 1,000: when to ask again if nothing else happens. */
  readonly waitMs: number;
  readonly crawl: CrawlState;
  /** The cookies that have changed since the version that the call named; absent when none has. */
  readonly cookies?: CookieNews;
}

/**
 * How a lease ends. `done`: committed. `retry`: delayed for `afterMs`, then pending with a new arrival; `record`
 * carries the raised attempt count. `failed`: to the failed list. `released`: back to pending uncounted, with its
 * old arrival. `unstarted`: no download began, so the reserved page goes back to the budget. `attempts` counts downloads,
 * this one included.
 */
export type Outcome = { readonly reason: string } & (
  | ({ readonly status?: number; readonly attempts: number; readonly unstarted?: boolean } & (
      | { readonly kind: 'done'; readonly noPage?: NoPage }
      | {
          readonly kind: 'retry';
          readonly afterMs: number;
          readonly priority: number;
          readonly record: string;
        }
      | { readonly kind: 'failed'; readonly detail?: string }
    ))
  | { readonly kind: 'released'; readonly unstarted: boolean }
);

/**
 * Why a done request gave no page that the spider processed; absent where it did. `error`: the server answered with a status
 * that no callback handles. `other`: a redirect, or the request was refused or replaced.
 */
export type NoPage = 'error' | 'other';

/** Effects of a page, which are committed together with its outcome or not at all. */
export interface Effects {
  /** JSON texts for the items list, in order. */
  readonly items: readonly string[];
  /** JSON texts for every outbox this node joined with, in order. A pipeline's gets `{ id, item }`, see `JoinOptions.feeds`. */
  readonly feedItems: readonly string[];
  /** The ids of `feedItems` for pipelines, `<40 hex digits>-<n>`; absent where they are `<request id>-1`, `-2` and so on. */
  readonly itemIds?: readonly string[];
  /** Discovered requests, in page order; at most `MAX_SETTLE_REQUESTS`. */
  readonly requests: readonly FrontierRequest[];
  /**
   * Counters to add, by Scrapy's names. The store itself counts `scheduler/enqueued`, `scheduler/dropped`,
   * `trap/domain_pages` and `dupefilter/filtered`. The counters of `budgets.ts` also count against the run's budgets.
   */
  readonly stats: Readonly<Record<string, number>>;
  /** Cookies that the page has set or removed, in order; absent when there are none. Not with the outcome `released`. */
  readonly cookies?: readonly CookieChange[];
  /** Changes of the user's own stats, in order; absent when there are none. Not with the outcome `released`. */
  readonly custom?: readonly StatChange[];
  /** The reason to close the run with, for all nodes; absent where the page does not want that. The first reason stays. */
  readonly closing?: string;
  /** From the start of the download to the headers of the answer, for AutoThrottle; absent where there was no answer. */
  readonly latencyMs?: number;
  /** What recognizes the page at its next download. Only `done` commits them, and only if no link of the page was dropped. */
  readonly validators?: ValidatorChange;
  /** The page, where its status was ignored. Only with the outcome `done`. */
  readonly ignored?: IgnoredPage;
  /** Links left out of `requests` because the node knows them to be seen; absent when there are none. */
  readonly withheld?: Withheld;
}

/** A page that answered with a status that its spider does not process, such as 404. */
export interface IgnoredPage {
  readonly status: number;
  readonly url: string;
  /** The Referer header of its request, which names the page with the link (REFERER_ENABLED). Records of requests have no other trace of that page. */
  readonly referer: string | null;
}

export const noEffects: Effects = { items: [], feedItems: [], requests: [], stats: {} };

/** The validators of a page (`http/validators.ts`) under the fingerprint of its request. */
export interface ValidatorChange {
  readonly fingerprint: string;
  /** Null removes them. */
  readonly text: string | null;
}

/**
 * Links that the dupefilter already has by an earlier settle: counted as `dupefilter/filtered`, but not sent. This is
 * valid only under the epoch in the answer of that settle, since every removal of fingerprints raises the epoch.
 */
export interface Withheld {
  readonly count: number;
  readonly epoch: string;
}

export type SettleAnswer =
  | ({
      readonly committed: true;
      /** The epoch under which the links were checked. */
      readonly epoch: string;
      /** The dupefilter has every request sent that has no dontFilter; false when one was dropped, or a forgotten one is live. */
      readonly allSeen: boolean;
      /** Counts the requests sent. Withheld links are not among the duplicates. */
    } & PushAnswer)
  /**
   * No effect was committed. Either the lease no longer belongs to this node, and nothing was written. Or (`closed`) the item
   * budget of the run was used up before this page with items: then the lease has ended, and its request is pending again,
   * uncounted, for the next run.
   */
  | { readonly committed: false; readonly resend?: false; readonly closed?: true }
  /** Nothing was written, since the withheld links are of another epoch. Settle again with all links. */
  | { readonly committed: false; readonly resend: true; readonly closed?: never };
