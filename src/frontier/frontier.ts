/**
 * The storage interface. The nodes and the commands use only this interface, never a store behind it. The Redis and the
 * embedded engine implement it, and both must pass the contract test `test/frontier-contract/frontier-contract.ts`. The
 * values that go through it are described by topic in `types/`.
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
 * Glossary, for TypeScript, Lua and SQL alike:
 * - *fingerprint*: 20-byte SHA-1 of what a request asks for. Two requests with the same fingerprint are duplicates.
 * - *id*: what identifies a live request, 20 bytes: its fingerprint. For a request with `dontFilter` it is a hash of fingerprint,
 *   parent and ordinal, so that pushing the same one again has no effect.
 * - *record*: what is stored of a request to download it, JSON text that the frontier never reads. A *row* (SQL) or *entry*
 *   (Redis) is what the frontier itself knows of a request, domain, node or feed.
 * - *mark*: a fingerprint in the form in which the dupefilter of the crawl stores it.
 * - *dontFilter*: set on a request that the dupefilter neither judges nor stores. What it turns away is a *duplicate*.
 *   *filtered* is Scrapy's word for duplicates; only the counter `dupefilter/filtered` and SEEDS_FILTERED use it.
 * - *lease*: the right to process one request, protected by a *token* that no other lease has.
 * - *node*: a crawlnode process. It registers as an *incarnation* (node id + random).
 * - *domain*: the politeness key.
 * - *run*: from the first node joining to the last leaving; a *job* lasts until its reset.
 * - *epoch*: a number that rises whenever a fingerprint may have been forgotten.
 * - *suspect*: a pending request whose node died while processing it. *volunteer*: the node that processes suspects, one at
 *   a time. *hungry*: a node that got nothing. See docs/internals/leasing.md.
 *
 * Every verb is one atomic step. A call repeated after a lost reply returns the first answer and has no second
 * effect. Every verb throws `FrontierUnavailableError` when the store cannot be reached (safe to repeat), and
 * `FrontierGoneError` when the records of a joined crawl have vanished. Instants and durations are in ms, on
 * the store's clock unless a name says otherwise.
 */
import type { FeedWriter, PipelineOutboxes } from '../feed-outbox.js';
import type { Backups } from './backup/entry.js';
import type { RobotsAnswer, RobotsClaim, RobotsResult } from './robots/robots-state.js';
import type { Control, Engine, FailedRequest, NodeInfo, Part, PartCounts } from './types/crawl.js';
import type {
  CookieNews,
  Effects,
  IgnoredPage,
  Lease,
  LeaseAnswer,
  Outcome,
  SettleAnswer,
  StatChange,
} from './types/leases.js';
import type { HeartbeatAnswer, Joined, JoinOptions, Left } from './types/nodes.js';
import type {
  CrashedRequest,
  Finding,
  Inspection,
  RecordedRequest,
  Repaired,
  Snapshot,
} from './types/reports.js';
import type {
  ConvertedSeed,
  EarlyPart,
  FrontierRequest,
  IntakeAnswer,
  PushAnswer,
  PushKind,
  RawSeed,
  StartClaim,
  StartPart,
} from './types/requests.js';
import type { Telemetry } from './types/telemetry.js';

export * from './types/crawl.js';
export * from './types/leases.js';
export * from './types/limits.js';
export * from './types/nodes.js';
export * from './types/reports.js';
export * from './types/requests.js';
export * from './types/telemetry.js';

export interface Frontier {
  readonly engine: Engine;

  /**
   * Register this node as a new incarnation; recovery, leasing and settling need it.
   * @throws RefusedError on another shape or format, on other arguments than those of the run, and with the code `live_nodes`
   *   for a new node while others end after a stop.
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

  /** Lease nothing from a domain for `forMs`, or change its delay, for all nodes. A `retry-after` changes no delay. */
  throttle(
    domain: string,
    change:
      | {
          readonly delayMs?: number;
          readonly forMs?: number;
          readonly source: 'setting' | 'robots' | 'autothrottle';
        }
      | { readonly delayMs?: never; readonly forMs: number; readonly source: 'retry-after' },
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
  /** @param by who gives the order, for the list of events. */
  control(state: Control, by?: string): Promise<void>;
  /** Close the run for all nodes with a reason; pending requests stay for the next run. */
  closeRun(reason: string): Promise<void>;
  snapshot(): Promise<Snapshot>;
  readonly telemetry: Telemetry;
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
   * Count the lost requests as removed, and take feed files for what they are, since somebody goes on without what is lost. A finished crawl whose shape does not persist,
   * and which was kept only for them, is cleared with this. @returns how many were lost.
   */
  acceptLosses(): Promise<number>;
  /**
   * Check the store and this crawl without changing anything: version, limits, disk, clock, rights, keys, format. A check
   * that is not possible, such as for a missing right, is a finding too.
   */
  examine(): Promise<readonly Finding[]>;
  /**
   * Rebuild queues and counters from the records of the requests, after `verify` found breaches. Afterwards each live request
   * is delayed until the same instant, failed, or pending in its old order. Leases are lost. The crawl is paused meanwhile,
   * and stays paused when the repair is interrupted: call it again then (`care/repair.ts`).
   * @param read reads the fields of a record; null when the record is not readable, which fails the request.
   * @throws RefusedError while nodes live, unless `force`.
   */
  repair(
    read: (id: string, record: string) => RecordedRequest | null,
    options: { readonly force: boolean },
  ): Promise<Repaired>;
  /**
   * Rebuild what a lease needs from the records of the requests, as the answer of a lease has asked this node to
   * (`CrawlState.stall`). The crawl leases nothing meanwhile. Each call to the store handles at most 500 records; the first and
   * last one all domains. @returns null when nothing was to be done any more.
   */
  rebuild(read: (id: string, record: string) => RecordedRequest | null): Promise<Repaired | null>;
  /**
   * Verify the invariants I1–I8, which docs/internals/map.md lists ("Invariants"). @param read as for `repair`: each record is read, too.
   * @returns a sentence for each breach; none when all is well.
   */
  verify(read?: (id: string, record: string) => RecordedRequest | null): Promise<readonly string[]>;
  /** The part of `verify` that is cheap on a large crawl: its counters against the sizes of what they count. */
  verifyCounts(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The feeds: committed items that wait for their files or pipelines, and the checkpoint of each. */
export interface Feeds extends PipelineOutboxes {
  /**
   * Move up to `max` items from the head of the items list to the end of the feed's outbox. This begins an export to the
   * feed, which ends with `release`.
   * @returns the number of moved items. @throws RefusedError when the writer does not hold the feed (any more).
   */
  take(writer: FeedWriter, max: number): Promise<number>;
  /** The texts of the items list, in order: up to `max` after the first `from`. They stay in the list. */
  peek(from: number, max: number): Promise<string[]>;
}

export interface FailedList {
  /** A page of the failed list, oldest first; `cursor` null when it was the last. */
  list(
    cursor: string | null,
    max: number,
  ): Promise<{ requests: readonly FailedRequest[]; cursor: string | null }>;
  /** The last pages whose statuses were ignored, at most `MAX_IGNORED`, oldest first. They are done, not failed. */
  ignored(): Promise<readonly IgnoredPage[]>;
  /** Failed → pending, with a new arrival. @returns how many were failed and are pending now. */
  retry(requests: readonly FrontierRequest[]): Promise<number>;
  /** Failed → removed. */
  purge(ids: readonly string[]): Promise<number>;
}
