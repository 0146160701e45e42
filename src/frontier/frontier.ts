/**
 * The storage interface. The engine and the commands use only this interface, never a store behind it. The Redis and the
 * embedded engine implement it, and both must pass the contract test `test/frontier-contract/frontier-contract.ts`.
 *
 * ```
 *                 push / intake                          settle(done)
 *   (seen? no) ───────────────► pending ──── lease ────► leased ───────────► done (a counter)
 *                                  ▲  ▲                   │ │ │
 *                       time comes │  └─ release, recovery┘ │ └─ settle(failed), crashed ──► failed
 *                                  │                        │                                  │
 *                               delayed ◄── settle(retry) ──┘            failed.retry, seed ───┘ (to pending)
 * ```
 *
 * Glossary: a *request* is known by its *id* (its fingerprint; for an unfiltered one fingerprint + parent +
 * ordinal). A *lease* is the right to process one request, fenced by a *token*. A *node* registers as an
 * *incarnation* (node id + random). The *domain* is the politeness key. The *dupefilter* records accepted
 * fingerprints. A *run* lasts from the first node joining to the last leaving; a *job* until its reset.
 *
 * Every verb is one atomic step. A call repeated after a lost reply returns the first answer and has no second
 * effect. Every verb throws `FrontierUnavailableError` when the store cannot be reached (safe to repeat), and
 * `FrontierGoneError` when the records of a joined crawl have vanished. Instants and durations are in ms, on
 * the store's clock unless a name says otherwise.
 */
import type { FeedWriter, PipelineOutboxes } from '../feed-outbox.js';
import type { CookieChange, CookieNews } from '../http/cookies/stored-cookie.js';
import type { FrontierRequest } from '../http/message/record/request-record.js';

import type { StatChange, StatValue } from '../stats/stat-change.js';

import type { Backups } from './backup/entry.js';
import type {
  Budgets,
  Control,
  Engine,
  FailedRequest,
  Part,
  PartCounts,
  RequestLife,
  RequestState,
  Shape,
  Tunables,
} from './crawl-types.js';
import type { RobotsAnswer, RobotsClaim, RobotsResult } from './robots/robots-state.js';
import type { RunArguments } from './shared-settings/run-arguments.js';

export * from './crawl-types.js';
export type { CookieChange, CookieNews, FrontierRequest, StatChange, StatValue };

/**
 * The kind of a push. `links` are checked by the dupefilter. `seeds` skip that check (unless `filtered`), are still
 * recorded, and make a failed request pending again. `start` are seeds that are accepted once per job and arguments.
 * `start-filtered` come from a generator, which another node runs again from its beginning when its node dies: the
 * dupefilter checks them, and unfiltered ones are accepted once by their place in the generator.
 */
export type PushKind = 'links' | 'seeds' | 'seeds-filtered' | 'start' | 'start-filtered';

/** The part of the start requests that a push contains. A list too long for one push is split, in order. */
export interface StartPart {
  /** The place of the first one. */
  readonly from: number;
  /** How many there are; null while more may follow. */
  readonly total: number | null;
  /** `startKey` of the arguments that they were made with; none by default. */
  readonly key?: string;
}

/**
 * Links of a page that are pushed before its settle, since it has too many. They stay accepted if the lease is lost, and the
 * page is then processed again. The ids of unfiltered ones are therefore kept with the page until its request is done, purged
 * or reset: no dupefilter would know a link that is done meanwhile. They are not part of a backup.
 */
export interface EarlyPart {
  /** The id of the page's request. When it is not live any more, unfiltered links are not accepted. */
  readonly page: string;
}

/** The answer to a node that wants to run `start()`: it may, another live node does, or all of it was pushed. */
export type StartClaim = 'claimed' | 'taken' | 'pushed';

export interface PushAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  /**
   * Links that were neither accepted nor recorded as seen, since the queue is at twice its limit
   * (`Tunables.queueLimit`); absent when there were none.
   */
  readonly dropped?: number;
  /** Links dropped likewise because of `Tunables.pagesPerDomain`; absent when there were none. */
  readonly trapped?: number;
  /** Requests that are pending or delayed now; only in the answer to requests of a generator. */
  readonly waiting?: number;
}

/** The right to process one request until it is settled or this incarnation is declared dead. */
export interface Lease {
  readonly id: string;
  readonly token: string;
  readonly record: string;
  readonly domain: string;
  /** The domain's delay in ms; 0 when it has none. With a delay the download must begin at once (DESIGN §5). */
  readonly delayMs: number;
  /** How often a node died while processing it; ≥ 1 makes it a suspect, leased alone. */
  readonly crashes: number;
}

/** The state of the crawl, which the store returns with every lease answer. */
export interface CrawlState {
  readonly control: Control;
  /**
   * True completion: nothing pending, delayed, leased or suspect, no seed waiting, start requests pushed, running, no item
   * waiting for a pipeline of this node, and the hooks for an idle crawl have nothing to add.
   */
  readonly finished: boolean;
  /** All is done but asking the hooks for an idle crawl, which no node does now (`claimIdle`). */
  readonly idleDue: boolean;
  /** Requests accepted in this run so far; 0 lets a node wait for its first seed. */
  readonly acceptedInRun: number;
  /** Why this run is closing, such as `closespider_pagecount`; null while it goes on. */
  readonly closing: string | null;
  /** External seeds waiting in the start_urls keys. */
  readonly seedsWaiting: number;
  /** How long no request has been pending, delayed or leased. */
  readonly idleMs: number;
  /** Pending and delayed requests are at the limit of the queue. Seeds stay in their keys until there is room. */
  readonly full: boolean;
  /** Requests whose records have vanished from the store since the crawl began. `finished` does not look at it, but a crawl with losses is not cleared at its end. */
  readonly lost: number;
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
  /** Links left out of `requests` because the node knows them to be seen; absent when there are none. */
  readonly withheld?: Withheld;
}

/** The validators of a page (`http/validators.ts`) under the fingerprint of its request. */
export interface ValidatorChange {
  readonly fingerprint: string;
  /** Null removes them. */
  readonly text: string | null;
}

/**
 * Links that the dupefilter already has by an earlier settle: counted as `dupefilter/filtered`, but not sent. This is
 * valid only under the epoch in the answer of that settle, since every removal of fingerprints raises the epoch
 * (DESIGN §5).
 */
export interface Withheld {
  readonly count: number;
  readonly epoch: string;
}

export const noEffects: Effects = { items: [], feedItems: [], requests: [], stats: {} };

export type SettleAnswer =
  | ({
      readonly committed: true;
      /** The epoch under which the links were checked. */
      readonly epoch: string;
      /** The dupefilter has every filtered request sent; false when one was dropped, or a forgotten one is live. */
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

/** Further requests of a page are pushed before its settle, in chunks of `PUSH_CHUNK` (DESIGN §5, Bounds). */
export const MAX_SETTLE_REQUESTS = 2_000;
export const PUSH_CHUNK = 1_000;
export const MAX_SETTLE_ITEMS = 10_000;
export const MAX_SETTLE_BYTES = 8 * 1024 * 1024;
/** A larger seed is bad. The record of a request has the same limit. */
export const MAX_SEED_BYTES = 1024 * 1024;
/** Requests per seed (as many as URLs in a sitemap). Bounded, since they are accepted in one step. */
export const MAX_SEED_REQUESTS = 50_000;
/** Bytes of the records of all requests of a seed. */
export const MAX_SEED_REQUEST_BYTES = 64 * 1024 * 1024;
export const MAX_WAIT_MS = 1_000;
/** Crashes after which a request is failed as `crashed`. */
export const MAX_CRASHES = 3;
/** The same while nodes die that no request explains: then somebody kills them from outside. */
export const MAX_CRASHES_AMONG_KILLS = 5;

export interface NodeInfo {
  /** The label given with `--node-id`, or host-pid. May repeat. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

export interface JoinOptions {
  readonly shape: Shape;
  readonly tunables: Tunables;
  readonly budgets: Budgets;
  /**
   * Ids of the outboxes that receive this node's committed feed items: of files (`feedId`), which get the texts as they
   * are, and of item pipelines (`pipelineOutboxId`), which get `{ "id": "<request id>-<n>", "item": … }`, n from 1 in each
   * page. While items wait in one of this node's pipelines, the crawl is not `finished` for it.
   */
  readonly feeds: readonly string[];
  /** Whether the spider has start requests. If so, the crawl is complete only after they were pushed. */
  readonly hasStart: boolean;
  /** Whether the nodes have hooks for an idle crawl. If so, the crawl is complete only after these had nothing to add. */
  readonly hasIdle: boolean;
  /** `-a name=value`: the run has those of its first node, and refuses a node with others. */
  readonly args: RunArguments;
  /** A new run makes all start requests again, although they were pushed before. */
  readonly startsAgain: boolean;
  /** COOKIES_MAX_JARS: when this node commits cookies, the jars changed least recently are dropped beyond it. */
  readonly maxCookieJars: number;
  /**
   * If this node begins a new run, clear the requests, failed requests, fingerprints and the record of pushed start
   * requests in the same step. Seeds, items and counters stay. A client that joins again does not flush.
   */
  readonly flushOnStart: boolean;
}

export interface Joined {
  readonly incarnation: string;
  /** Id of the run that this node begins or joins; '' when it should not start. */
  readonly run: string;
  /** The content of the crawl at the join, for the message of a resumed crawl. */
  readonly found: Pick<
    Snapshot,
    'pending' | 'delayed' | 'leased' | 'seen' | 'lost' | 'seenGone' | 'seenExpires'
  > & {
    /** Other live nodes: with them the node joins a crawl, alone it resumes one. */
    readonly nodes: number;
  };
  /** True when the start requests of the job and these arguments were pushed by an earlier node. */
  readonly startPushed: boolean;
  /** Set when this run was closed by the same budget less than `nodeTimeoutMs` ago: the node should not start. */
  readonly justClosed: string | null;
  /** Sentences for the user, such as a tunable that changed for all nodes. */
  readonly notices: readonly string[];
}

/** The result of a leave. */
export interface Left {
  /** The run ended with this incarnation. */
  readonly last: boolean;
  readonly cleared: boolean;
  /** Set when the node stays registered, since the other nodes may have been killed. Absent when it left. */
  readonly awaits?: Silence;
}

/** Incarnations that are registered and not declared dead, but sent no recent heartbeat. */
export interface Silence {
  readonly incarnations: readonly string[];
  /** Time until the last of them counts as dead, unless it sends a heartbeat. */
  readonly forMs: number;
}

export type HeartbeatAnswer = 'alive' | 'dead' | 'gone';

/** The unchanged bytes of an external seed. */
export interface RawSeed {
  readonly key: string;
  readonly value: Buffer;
}

/** A seed after `makeRequestFromData`: its requests, or why it is bad. */
export type ConvertedSeed =
  | { readonly seed: RawSeed; readonly requests: readonly FrontierRequest[] }
  | { readonly seed: RawSeed; readonly bad: string };

export interface IntakeAnswer extends PushAnswer {
  readonly bad: number;
}

export interface NodeSnapshot extends NodeInfo {
  /** In ms since 1970. */
  readonly startedAt: number;
  readonly heartbeatAgeMs: number;
  /** Requests that the node is processing. */
  readonly leased: number;
  /** Pages that the node has settled as done or failed. */
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** How far the clock of its machine was ahead of the store's clock at the join; negative when it was behind. */
  readonly clockAheadMs: number;
}

/** A crawl at one instant, in O(1) or bounded work. */
export interface Snapshot {
  readonly startUrls: number;
  readonly badSeeds: number;
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly suspects: number;
  readonly accepted: number;
  readonly done: number;
  readonly failed: number;
  readonly removed: number;
  /** Requests whose records have vanished from the store: somebody deleted keys or rows, or Redis evicted them. */
  readonly lost: number;
  readonly seen: number;
  /** As in `CrawlState`. */
  readonly seenGone: number;
  readonly seenExpires: boolean;
  readonly items: number;
  readonly domains: number;
  /** Memory or disk space of each part, estimated from samples. Failed requests count to the frontier. */
  readonly bytes: Readonly<Record<'frontier' | 'dupefilter' | 'startUrls' | 'items' | 'stats', number>>;
  /** The live nodes. */
  readonly nodes: readonly NodeSnapshot[];
  /** Registered nodes without a heartbeat for the node timeout, or declared dead. Their leases return to pending. */
  readonly silent: readonly NodeSnapshot[];
  readonly counters: Readonly<Record<string, number>>;
  /** Stats of the user's own code. */
  readonly custom: Readonly<Record<string, StatValue>>;
  readonly outbox: readonly OutboxSnapshot[];
  readonly run: RunSnapshot | null;
  readonly control: Control;
  /** The shape of the crawl; null until a first node has joined. */
  readonly shape: Shape | null;
  /** `Tunables.queueLimit` of the latest node; null before the first. */
  readonly queueLimit: number | null;
  /** When the crawl began, with its first request or node since a reset; null when there is no crawl. */
  readonly beganAtMs: number | null;
  /** Since when the dupefilter records fingerprints: the beginning of the crawl, or the last reset of the dupefilter. */
  readonly seenSinceMs: number | null;
}

export interface RunSnapshot {
  readonly id: string;
  /** In ms since 1970. */
  readonly startedAt: number;
  /** Downloads that all its nodes have started, including retries and redirects. */
  readonly pages: number;
  /** Items that all its nodes have committed. */
  readonly items: number;
  /** Requests that failed in this run, on any node. One that is retried from the failed list and fails again counts twice. */
  readonly failed: number;
  /** Done requests of this run whose pages answered with an error (`NoPage`), on any node. */
  readonly errorPages: number;
  /** Whether any page of this run was processed, on any node. */
  readonly hasGoodPage: boolean;
  /** Why the run ended; null while it goes on. */
  readonly closed: string | null;
  /** When its last node left, in ms since 1970; null while it goes on, and when all its nodes died. */
  readonly endedAt: number | null;
}

export interface OutboxSnapshot {
  /** `feedId` of a file, or `pipelineOutboxId` of an item pipeline. */
  readonly feed: string;
  /** The machine that the file is on; of a pipeline, that of the last node which called it. */
  readonly host: string;
  /** Of a pipeline, its module as ITEM_PIPELINES names it. */
  readonly path: string;
  /** Committed items that wait to be written. */
  readonly waiting: number;
  /** The process that writes the file; null when there is none. It may have died since. */
  readonly writerPid: number | null;
  /** `FeedWriter.format` of its last writer; null when not given. */
  readonly format: string | null;
}

/** The feeds: committed items that wait for their files or pipelines, and the checkpoint of each. */
export interface Feeds extends PipelineOutboxes {
  /**
   * Move up to `max` items from the head of the items list to the end of the feed's outbox. This begins an export to the
   * feed, which ends with `release`.
   * @returns the number of moved items. @throws RefusedError when the writer does not hold the feed (any more).
   */
  take(writer: FeedWriter, max: number): Promise<number>;
  /** The texts at the head of the items list, in order, at most `max`. They stay in the list. */
  peek(max: number): Promise<string[]>;
}

export interface FailedList {
  /** A page of the failed list, oldest first; `cursor` null when it was the last. */
  list(
    cursor: string | null,
    max: number,
  ): Promise<{ requests: readonly FailedRequest[]; cursor: string | null }>;
  /** Failed → pending, with a new arrival. @returns how many were failed and are pending now. */
  retry(requests: readonly FrontierRequest[]): Promise<number>;
  /** Failed → removed. */
  purge(ids: readonly string[]): Promise<number>;
}

/** A request that failed as `crashed`. Its record is null where the failed list is too long to keep it. */
export type CrashedRequest = Pick<FailedRequest, 'id' | 'record' | 'crashes'>;

export interface Inspection {
  readonly state: RequestState;
  readonly seen: boolean;
  readonly record: string | null;
  readonly crashes: number;
  /** The incarnation that holds the lease; null when not leased. */
  readonly owner: string | null;
  /** The instant of the lease; null when not leased. */
  readonly leasedAtMs: number | null;
  /** For a delayed request, when it becomes due. For a pending one, when its domain may be leased from, if in the future. */
  readonly dueAtMs: number | null;
  /** Why the request failed; null when it has not. */
  readonly failure: Omit<FailedRequest, 'id' | 'record' | 'crashes'> | null;
  /** The state in a StateDupeFilter; null with other classes, and for an unfiltered, unknown or forgotten request. */
  readonly life: RequestLife | null;
}

/** The fields of a record that a repair needs. The frontier itself does not read records. */
export interface RecordedRequest {
  readonly domain: string;
  readonly priority: number;
  readonly acceptedAtMs: number;
}

/** The number of requests after a repair, by state. */
export type Repaired = Pick<Snapshot, 'pending' | 'delayed' | 'failed'>;

/** A result of `examine`: a message, and what to do about it. */
export interface Finding {
  /** A problem needs action, an info does not, and ok is the result of a successful check. */
  readonly level: 'problem' | 'info' | 'ok';
  /** A stable name of the check, such as `eviction_policy`. */
  readonly check: string;
  /** Whether the finding concerns the whole store, and so every crawl in it, or only this crawl. */
  readonly about: 'store' | 'crawl';
  readonly message: string;
  /** What to do; null when nothing. */
  readonly action: string | null;
}

export interface Frontier {
  readonly engine: Engine;

  /**
   * Register this node as a new incarnation; recovery, leasing and settling need it.
   * @throws RefusedError on another shape or format, and on other arguments than those of the run.
   */
  join(node: NodeInfo, options: JoinOptions): Promise<Joined>;
  /**
   * Deregister. The last incarnation also ends the run with `reason`. It clears the crawl when `reason` is `finished`, the
   * crawl is complete and its shape does not persist; a signal, stop or budget only ends the run. Leases still held return
   * to pending uncounted.
   * @param heardWithinMs when given, the node does not leave such a crawl to nodes that may all have been killed: those
   *   without a heartbeat for so long whose process is not known to run. It stays (`Left.awaits`) and must call again. The
   *   call counts as a heartbeat.
   */
  leave(reason: string, heardWithinMs?: number): Promise<Left>;
  /** Sign of life of an incarnation; called from the heartbeat thread on a connection of its own. */
  heartbeat(incarnation: string, pagesPerSecond: number): Promise<HeartbeatAnswer>;
  /**
   * Compare the leases of this incarnation in the store with those that it holds. Leases older than `graceMs` that it does
   * not hold return to pending uncounted. @returns the ids held here whose token the store does not know.
   */
  reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ readonly lost: readonly string[]; readonly returned: number }>;
  /**
   * Mark silent incarnations dead, then return their requests to the queue, a bounded step at a time.
   * @param onDead called for each dead incarnation that this call handled, with its node id and the number of its requests
   *   that were returned or, after too many crashes, failed.
   * @param onFailed called for each request that failed as `crashed`.
   * @returns the number of these requests of all incarnations.
   */
  recover(
    onDead?: (node: string, requests: number) => void,
    onFailed?: (request: CrashedRequest) => void,
  ): Promise<number>;

  /**
   * Accept requests in one atomic batch (at most `MAX_SETTLE_REQUESTS`). Needs no join.
   * @param part of the start requests; all of them by default. Those that another node has pushed count as duplicates. Or
   *   the page whose links are pushed before its settle.
   */
  push(
    requests: readonly FrontierRequest[],
    kind: PushKind,
    part?: StartPart | EarlyPart,
  ): Promise<PushAnswer>;
  /** Become the node that runs `start()` of the spider, if there is none that lives. Safe to ask again. */
  claimStart(): Promise<StartClaim>;
  /**
   * Become the node that asks the hooks for an idle crawl, if the crawl is idle and no live node asks them. Where they had
   * nothing to add, they are asked again only after a page has begun, or after `againAfterMs`; null is never.
   * @returns whether this node is to ask; it ends with `endIdle`, after it has pushed what they added.
   */
  claimIdle(againAfterMs: number | null): Promise<boolean>;
  endIdle(): Promise<void>;
  /**
   * Take up to `max` due, polite requests in order; `holding` is how many this node processes now. Never blocks in the store.
   * @param cookies the version of the cookies that this node knows, 0 at first; without it the answer brings none.
   */
  lease(max: number, holding: number, cookies?: number): Promise<LeaseAnswer>;
  /**
   * The cookies that have changed since a version, as many as one answer brings; null when none has. Needs no join.
   * @param readAnewAt for one who reads all cookies anew, in several calls: `latest` of the first answer.
   */
  cookies(since: number, readAnewAt?: number): Promise<CookieNews | null>;
  /**
   * The validators committed with the pages of these fingerprints, in order; null where there are none, and where they were
   * committed under an earlier epoch: a forgotten fingerprint must be found again on the pages that link to it.
   */
  validators(fingerprints: readonly string[]): Promise<readonly (string | null)[]>;
  /** End one lease and commit its effects: all of it or nothing. */
  settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer>;

  /**
   * Give the download of a lease a new instant, since it begins later than the delay of its domain allows, as after a slow
   * middleware. The delay timer of the domain counts from that instant, for all nodes. Call it before the download and
   * wait; without a delay it is not needed.
   * @returns the ms to wait before the download: 0 where nothing was leased from the domain since. It may be long, as under
   *   a throttle; then the lease may be released instead. Null when the lease is no longer this node's: end the work.
   */
  defer(lease: Lease): Promise<number | null>;

  /**
   * Read up to `max` external seeds without removing them, key after key: a list from its head, a set at random, a
   * sorted set from its highest score. @throws RefusedError when a key holds another type than the settings say.
   */
  peekSeeds(max: number): Promise<readonly RawSeed[]>;
  /** Remove each seed and accept its requests, or move it to `<key>:bad`, only if it was still there. */
  intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer>;
  /** The bad seeds as JSON of `BadSeed`, key after key, oldest first: up to `max` after the first `from`. */
  badSeeds(from: number, max: number): Promise<readonly string[]>;
  /** Append raw seeds to the first start_urls key, as an external producer would. */
  appendSeeds(values: readonly string[]): Promise<number>;

  /** Lease nothing from a domain for `forMs`, or change its delay, for all nodes. */
  throttle(
    domain: string,
    change: {
      readonly delayMs?: number;
      readonly forMs?: number;
      readonly source: 'setting' | 'robots' | 'autothrottle' | 'retry-after';
    },
  ): Promise<void>;
  /**
   * Take the next instant at which a domain may be asked, for a request that has no lease, such as a redirect of robots.txt.
   * @returns in how many ms that is; null, and nothing is taken, when it is later than `withinMs` or the domain is full.
   */
  takeInstant(domain: string, withinMs: number): Promise<number | null>;
  /**
   * What is known of the robots.txt of an origin. Where nothing is, this incarnation is the one to fetch it. Its claim ends
   * with `storeRobots`, or when it is declared dead.
   * @param domain of the request that needs the rules; it rests while there are none (`RobotsAnswer`).
   * @param isFetching whether this node fetches it now; if not, a claim that it seems to hold was lost on the way.
   */
  robots(origin: string, domain: string, isFetching: boolean): Promise<RobotsAnswer>;
  /** End a claim. @param stats counters to add. @returns false when the claim was lost; then nothing is written. */
  storeRobots(
    claim: RobotsClaim,
    result: RobotsResult,
    stats: Readonly<Record<string, number>>,
  ): Promise<boolean>;
  /** Change stats of the user's own code outside of a page. Without a crawl nothing is written. */
  addStats(changes: readonly StatChange[]): Promise<void>;
  control(state: Control): Promise<void>;
  /** Close the run for all nodes with a reason; pending requests stay for the next run. */
  closeRun(reason: string): Promise<void>;
  snapshot(): Promise<Snapshot>;
  readonly failed: FailedList;
  readonly feeds: Feeds;
  readonly backups: Backups;
  inspect(request: FrontierRequest): Promise<Inspection>;
  /**
   * Remove a fingerprint from the dupefilter and raise the epoch. @returns whether it was there.
   * @throws RefusedError `cannot_forget` under the BloomDupeFilter.
   */
  forget(fingerprint: string): Promise<boolean>;
  /** How much each part holds. */
  count(): Promise<PartCounts>;
  /** Delete parts; all of them leave no key of this spider and job. @throws RefusedError while nodes live, unless `force`. */
  clear(parts: readonly Part[], options: { readonly force: boolean }): Promise<void>;
  /**
   * Check the store and this crawl without changing anything: version, limits, disk, clock, rights, keys, format. A check
   * that is not possible, such as for a missing right, is a finding too.
   */
  examine(): Promise<readonly Finding[]>;
  /**
   * Rebuild every index and counter from the records of the requests, after `verify` found breaches. Afterwards each live
   * request is either pending, delayed or failed. Leases are lost. The crawl is paused meanwhile, and stays paused when the
   * repair is interrupted: call it again then. Within a priority, requests are ordered by acceptance, to the ms.
   * @param read reads the fields of a record; null when the record is not readable, which fails the request.
   * @throws RefusedError while nodes live, unless `force`.
   */
  repair(
    read: (id: string, record: string) => RecordedRequest | null,
    options: { readonly force: boolean },
  ): Promise<Repaired>;
  /** Verify the invariants I1–I8. @returns a sentence for each breach; none when all is well. */
  verify(): Promise<readonly string[]>;
  close(): Promise<void>;
}
