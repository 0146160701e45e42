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

import type { FeedWriter, Outbox } from '../feed.js';
import type { FrontierRequest } from '../http/message/request-record.js';
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

export * from './crawl-types.js';
export type { FrontierRequest };

/**
 * How a push is judged. `links` pass the dupefilter. `seeds` skip that test (unless `filtered`), are recorded
 * all the same, and bring a failed request back. `start` are seeds accepted once per job, whichever node is first.
 */
export type PushKind = 'links' | 'seeds' | 'seeds-filtered' | 'start';

/** Which of a job's start requests a push brings. A list too long for one push comes in several, in order. */
export interface StartPart {
  readonly from: number;
  readonly total: number;
}

export interface PushAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  /**
   * Links neither accepted nor recorded as seen, since the queue is at twice its limit (`Tunables.queueLimit`);
   * absent when there were none.
   */
  readonly dropped?: number;
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

/** What the store says of the crawl with every lease answer. */
export interface CrawlState {
  readonly control: Control;
  /** True completion: nothing pending, delayed, leased or suspect, no seed waiting, start requests pushed, running. */
  readonly finished: boolean;
  /** Requests accepted in this run so far; 0 lets a node wait for its first seed. */
  readonly acceptedInRun: number;
  /** Why this run is closing, such as `closespider_pagecount`; null while it goes on. */
  readonly closing: string | null;
  /** External seeds waiting in the start_urls keys. */
  readonly seedsWaiting: number;
  /** How long nothing has been pending, delayed or leased anywhere. */
  readonly idleMs: number;
  /** Pending and delayed requests are at the limit of the queue: seeds stay in their keys until it has room. */
  readonly full: boolean;
}

export interface LeaseAnswer {
  readonly leases: readonly Lease[];
  /** 0 to 1,000: when to ask again if nothing else happens. */
  readonly waitMs: number;
  readonly crawl: CrawlState;
}

/**
 * How a lease ends. `done`: committed. `retry`: delayed for `afterMs`, then pending with a new arrival; `record`
 * carries the raised attempt count. `failed`: to the failed list. `released`: back to pending uncounted, with its
 * old arrival; `unstarted` gives a reserved page back to the budget. `attempts` counts downloads, this one included.
 */
export type Outcome =
  | { readonly kind: 'done'; readonly reason: string; readonly status?: number; readonly attempts: number }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly status?: number;
      readonly attempts: number;
      readonly afterMs: number;
      readonly priority: number;
      readonly record: string;
    }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly status?: number;
      readonly attempts: number;
      readonly detail?: string;
    }
  | { readonly kind: 'released'; readonly reason: string; readonly unstarted: boolean };

/** What is committed together with an outcome, or not at all. */
export interface Effects {
  /** JSON texts for the items list, in order. */
  readonly items: readonly string[];
  /** JSON texts for the outbox of every feed this node joined with, in order. */
  readonly feedItems: readonly string[];
  /** Discovered requests, in page order; at most `MAX_SETTLE_REQUESTS`. */
  readonly requests: readonly FrontierRequest[];
  /**
   * Counters to add, by Scrapy's names; `scheduler/enqueued`, `scheduler/dropped` and `dupefilter/filtered` the store
   * counts itself. Those of `budgets.ts` count against the run's budgets too.
   */
  readonly stats: Readonly<Record<string, number>>;
  /** Links left out of `requests` because the node knows them to be seen; absent when there are none. */
  readonly withheld?: Withheld;
}

/**
 * Links that an earlier settle is known to have left in the dupefilter: counted as `dupefilter/filtered`, not sent. It
 * holds only under the epoch that settle was answered with, since every forgetting raises it (DESIGN §5).
 */
export interface Withheld {
  readonly count: number;
  readonly epoch: string;
}

export const noEffects: Effects = { items: [], feedItems: [], requests: [], stats: {} };

export type SettleAnswer =
  | ({
      readonly committed: true;
      /** The epoch this was judged under. */
      readonly epoch: string;
      /** The dupefilter holds every filtered request sent; false where one was dropped, or a forgotten one is live. */
      readonly allSeen: boolean;
      /** Of the requests sent; what was withheld is not among the duplicates. */
    } & PushAnswer)
  /**
   * Nothing was written: the lease is no longer this node's. Or (`closed`) the run's item budget was used up before
   * this page with its items came: its request is pending again, uncounted, for the next run.
   */
  | { readonly committed: false; readonly resend?: false; readonly closed?: true }
  /** Nothing was written: what was withheld was judged under another epoch. Settle again with all links. */
  | { readonly committed: false; readonly resend: true; readonly closed?: never };

/** More requests of one page are pushed before its settle, in chunks of `PUSH_CHUNK` (DESIGN §5, Bounds). */
export const MAX_SETTLE_REQUESTS = 2_000;
export const PUSH_CHUNK = 1_000;
export const MAX_SETTLE_ITEMS = 10_000;
export const MAX_SETTLE_BYTES = 8 * 1024 * 1024;
/** A larger seed is bad: so much a request's record may take. */
export const MAX_SEED_BYTES = 1024 * 1024;
/** One seed brings at most so many requests (a sitemap's worth), since they are accepted in one step: some 150 ms. */
export const MAX_SEED_REQUESTS = 50_000;
/** And their records at most so many bytes. */
export const MAX_SEED_REQUEST_BYTES = 64 * 1024 * 1024;
export const MAX_WAIT_MS = 1_000;
/** Crashes after which a request is failed as `crashed`. */
export const MAX_CRASHES = 3;

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
  /** Ids of the feeds whose outbox receives this node's committed feed items. */
  readonly feeds: readonly string[];
  /** Whether the spider has start requests, so completion waits for them to be pushed. */
  readonly hasStart: boolean;
  /**
   * Where this node begins a new run, forget the requests, the failed ones, the fingerprints and that the start
   * requests were pushed, in the same step; seeds, items and counters stay. A client that joins again never does.
   */
  readonly flushOnStart: boolean;
}

export interface Joined {
  readonly incarnation: string;
  /** Id of the run that this node begins or takes part in; '' when it should not start. */
  readonly run: string;
  /** What was there already, so that a resumed crawl can say so. */
  readonly found: {
    readonly pending: number;
    readonly delayed: number;
    readonly leased: number;
    readonly seen: number;
    /** Other live nodes: with them the node joins a crawl, alone it resumes one. */
    readonly nodes: number;
  };
  /** True when the job's start requests were pushed by an earlier node. */
  readonly startPushed: boolean;
  /** Set when this run was closed by the same budget less than `nodeTimeoutMs` ago: the node should not start. */
  readonly justClosed: string | null;
  /** Sentences for the user, such as a tunable that changed for all nodes. */
  readonly notices: readonly string[];
}

/** What became of a leave. */
export interface Left {
  /** The run ended with this incarnation. */
  readonly last: boolean;
  readonly cleared: boolean;
  /** Nothing was done, and the incarnation is as alive as before: others may have been killed. Absent where it left. */
  readonly awaits?: Silence;
}

/** Incarnations that are registered, not declared dead, and not heard of. */
export interface Silence {
  readonly incarnations: readonly string[];
  /** Until the last of them counts as dead, unless it is heard of. */
  readonly forMs: number;
}

export interface HeartbeatReport {
  /** Pages this node has settled as done or failed since it started. */
  readonly pages: number;
  readonly pagesPerSecond: number;
}

export type HeartbeatAnswer = 'alive' | 'dead' | 'gone';

/** One external seed as it stands in its key, byte for byte. */
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
  /** Requests that it is processing. */
  readonly leased: number;
  /** Pages it has settled as done or failed. */
  readonly pages: number;
  readonly pagesPerSecond: number;
  /** How far the clock of its machine was ahead of the store's when it joined; negative where it was behind. */
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
  readonly seen: number;
  readonly items: number;
  readonly domains: number;
  /** Memory or disk of each part, estimated from samples; failed requests lie in the frontier. */
  readonly bytes: {
    readonly frontier: number;
    readonly dupefilter: number;
    readonly startUrls: number;
    readonly items: number;
    readonly stats: number;
  };
  /** The live ones. */
  readonly nodes: readonly NodeSnapshot[];
  /** Registered, but not heard of for the node timeout, or declared dead; what they hold goes back to pending. */
  readonly silent: readonly NodeSnapshot[];
  readonly counters: Readonly<Record<string, number>>;
  readonly outbox: readonly OutboxSnapshot[];
  readonly run: RunSnapshot | null;
  readonly control: Control;
  /** What all its nodes share; null until a first one has joined. */
  readonly shape: Shape | null;
  /** `Tunables.queueLimit` of the latest node; null before the first. */
  readonly queueLimit: number | null;
  /** When the crawl began: with its first request or node since a reset; null when there is none. */
  readonly beganAtMs: number | null;
  /** Since when the dupefilter records fingerprints: the crawl's beginning, or its own last reset. */
  readonly seenSinceMs: number | null;
}

export interface RunSnapshot {
  readonly id: string;
  /** In ms since 1970. */
  readonly startedAt: number;
  /** Downloads that all its nodes have started, retries and redirects among them. */
  readonly pages: number;
  /** Items that all its nodes have committed. */
  readonly items: number;
  /** Requests that have failed in this run, on any node. One that was retried from the failed list and fails again counts twice. */
  readonly failed: number;
  /** Why the run ended; null while it goes on. */
  readonly closed: string | null;
  /** When its last node left, in ms since 1970; null while it goes on, and when all its nodes died. */
  readonly endedAt: number | null;
}

export interface OutboxSnapshot {
  /** Id of the file: a hash of host and path. */
  readonly feed: string;
  /** The machine that the file is on. */
  readonly host: string;
  readonly path: string;
  /** Committed items that wait to be written. */
  readonly waiting: number;
  /** The process that writes the file; null when none does. It may have died since. */
  readonly writerPid: number | null;
  /** `FeedWriter.format` of its last writer; null where that did not say. */
  readonly format: string | null;
}

/** Committed items that wait for their files, and how far each file has come. */
export interface Feeds extends Outbox {
  /**
   * Move up to `max` items from the head of the items list to the end of the feed's outbox. From then on an export to
   * this feed has begun, until `release` says that it has ended.
   * @returns how many. @throws RefusedError when the writer does not hold the feed, or not any more.
   */
  take(writer: FeedWriter, max: number): Promise<number>;
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

export interface Inspection {
  readonly state: RequestState;
  readonly seen: boolean;
  readonly record: string | null;
  readonly crashes: number;
  /** The incarnation that holds it, when leased. */
  readonly owner: string | null;
  /** Since when, when leased. */
  readonly leasedAtMs: number | null;
  /** When it becomes due, when delayed; when pending, the next instant at which its domain may be asked, if that is to come. */
  readonly dueAtMs: number | null;
  /** Why, when failed. */
  readonly failure: Omit<FailedRequest, 'id' | 'record' | 'crashes'> | null;
  /** What a StateDupeFilter knows of it; null under the other classes, and for what is unfiltered, unknown or forgotten. */
  readonly life: RequestLife | null;
}

/** What a record tells the frontier that stores it without looking. */
export interface RecordedRequest {
  readonly domain: string;
  readonly priority: number;
  readonly acceptedAtMs: number;
}

/** What there is after a repair. */
export interface Repaired {
  readonly pending: number;
  readonly delayed: number;
  readonly failed: number;
}

/** What `examine` found: a sentence, and what to do about it. */
export interface Finding {
  /** A problem wants somebody to act; an info is worth knowing; ok is what was looked at and is well. */
  readonly level: 'problem' | 'info' | 'ok';
  /** What was looked at: a stable name, such as `eviction_policy`. */
  readonly check: string;
  /** Whether it is true of the whole store, so of every crawl in it, or of this crawl alone. */
  readonly about: 'store' | 'crawl';
  readonly message: string;
  /** What to do; null when nothing. */
  readonly action: string | null;
}

export interface Frontier {
  readonly engine: Engine;

  /** Register this node as a new incarnation; recovery, leasing and settling need it. @throws RefusedError on another shape or format. */
  join(node: NodeInfo, options: JoinOptions): Promise<Joined>;
  /**
   * Deregister. The last incarnation also ends the run with `reason`, and clears the crawl when that is `finished`, it is
   * truly complete, and the shape does not persist: a signal, stop or budget ends a run, not the crawl. Leases still held
   * go back to pending uncounted.
   * @param heardWithinMs with it, who would leave such a crawl to others that may all have been killed stays instead, and
   *   asks again: none of them was heard of within so long, where its process cannot be seen to run. Whoever stays is heard of.
   */
  leave(reason: string, heardWithinMs?: number): Promise<Left>;
  /** Sign of life of an incarnation; called from the heartbeat thread on a connection of its own. */
  heartbeat(incarnation: string, report: HeartbeatReport): Promise<HeartbeatAnswer>;
  /**
   * Compare what the store thinks this incarnation holds with what it does. Leases it does not hold, older than
   * `graceMs`, return to pending uncounted. @returns the ids held here whose token the store does not know.
   */
  reconcile(
    held: readonly Pick<Lease, 'id' | 'token'>[],
    graceMs: number,
  ): Promise<{ readonly lost: readonly string[]; readonly returned: number }>;
  /**
   * Mark silent incarnations dead, then return their requests to the queue, a bounded step at a time.
   * @param onDead called for each dead incarnation that this call handled: its node id, and how many of its requests were
   *   returned or, after too many crashes, failed.
   * @returns how many requests that were of all of them.
   */
  recover(onDead?: (node: string, requests: number) => void): Promise<number>;

  /**
   * Accept requests in one atomic batch (at most `MAX_SETTLE_REQUESTS`). Needs no join.
   * @param part of the start requests; all of them unless given. What another node has pushed counts as duplicate.
   */
  push(requests: readonly FrontierRequest[], kind: PushKind, part?: StartPart): Promise<PushAnswer>;
  /** Take up to `max` due, polite requests in order; `holding` is how many this node processes now. Never blocks in the store. */
  lease(max: number, holding: number): Promise<LeaseAnswer>;
  /** End one lease and commit its effects: all of it or nothing. */
  settle(lease: Lease, outcome: Outcome, effects: Effects): Promise<SettleAnswer>;

  /**
   * Read up to `max` external seeds without removing them, key after key: a list from its head, a set at random, a
   * sorted set from its highest score. @throws RefusedError when a key holds another type than the settings say.
   */
  peekSeeds(max: number): Promise<readonly RawSeed[]>;
  /** Remove each seed and accept its requests, or move it to `<key>:bad`, only if it was still there. */
  intake(batch: readonly ConvertedSeed[]): Promise<IntakeAnswer>;
  /** What was set aside, oldest first, key after key, as JSON of `BadSeed`: up to `max` after the first `from`. */
  badSeeds(from: number, max: number): Promise<readonly string[]>;
  /** Append raw seeds to the first start_urls key, as an external producer would. */
  appendSeeds(values: readonly string[]): Promise<number>;

  /** Leave a domain alone for `forMs`, or change its delay, for all nodes. */
  throttle(
    domain: string,
    change: {
      readonly delayMs?: number;
      readonly forMs?: number;
      readonly source: 'setting' | 'robots' | 'autothrottle' | 'retry-after';
    },
  ): Promise<void>;
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
   * Look at the store and at what of it concerns this crawl, changing nothing: version, limits, disk, clock, rights,
   * keys, format. What cannot be looked at (a right that is missing) is a finding too.
   */
  examine(): Promise<readonly Finding[]>;
  /**
   * Rebuild every index and counter from the records of the requests, where `verify` finds breaches: whatever was live is
   * pending, delayed or failed afterwards, once; leases are given up. The crawl is paused meanwhile, and stays so when
   * this breaks off: call it again. Within a priority the order is that of acceptance to the ms.
   * @param read what a record says of its request; null when it cannot be read, which fails it.
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
