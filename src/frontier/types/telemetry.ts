/** What the store knows of a crawl's progress beside its requests: what nodes report, the history, and the events. */
import type { Control, NodeInfo } from './crawl.js';

/** Amounts by name, as `telemetry/domain-counts.ts` names them. The store only adds them up. */
export type DomainCounts = Readonly<Record<string, number>>;

/** What keeps a node from taking requests. The store knows by itself of a node that is alone with a suspect. */
export type NodeObstacle = 'store' | 'outbox' | 'browser' | 'suspect';

/** What a node says of itself. */
export interface NodeFacts {
  readonly version: string;
  readonly rssBytes: number;
  /** CPU time of the process per second of time: 1 is one core. */
  readonly cpu: number;
  /** The longest delay of its event loop since the last report. */
  readonly eventLoopDelayMs: number;
  /** CONCURRENT_REQUESTS. */
  readonly slots: number;
  readonly slotsUsed: number;
  readonly failuresPerSecond: number;
  /** Age of the lease that it holds for longest; 0 for none. */
  readonly oldestLeaseMs: number;
  /** The domain of that lease; null for none. */
  readonly oldestLeaseDomain: string | null;
  readonly obstacle: NodeObstacle | null;
  /** The port at which its command serves metrics; null for none. */
  readonly metricsPort: number | null;
}

/** An event that a node tells of; the store knows of the others by itself. `agoMs`: before the report. */
export interface NodeEvent {
  readonly kind: 'store_full' | 'store_away' | 'store_back';
  readonly agoMs: number;
}

/** What a node has done since its last report. */
export interface NodeReport {
  /** Rises with each report of a node; one that is not above the last has no effect. */
  readonly sequence: number;
  readonly node: NodeFacts;
  /** At most `MAX_REPORTED_DOMAINS`, and what the others add up to under `OTHER_DOMAINS`. */
  readonly domains: readonly (readonly [domain: string, counts: DomainCounts])[];
  readonly events: readonly NodeEvent[];
}

/** Something that happened to a crawl; `atMs` since 1970. */
export type CrawlEvent = { readonly number: number; readonly atMs: number } & (
  | { readonly kind: 'node_joined'; readonly node: string }
  | { readonly kind: 'node_left'; readonly node: string; readonly reason: string }
  /** `requests`: what it held, which goes back to the queue. */
  | { readonly kind: 'node_died'; readonly node: string; readonly requests: number }
  /** `by`: who gave the order; null where they did not say. */
  | { readonly kind: 'paused' | 'resumed' | 'stopping'; readonly by: string | null }
  | { readonly kind: 'settings_changed'; readonly node: string; readonly settings: readonly string[] }
  | { readonly kind: NodeEvent['kind']; readonly node: string }
  /** No node asks the domain for `forMs`: the site asked for that, or does not answer. `more`: further such pauses soon after, of any domain. */
  | {
      readonly kind: 'domain_paused';
      readonly domain: string;
      readonly forMs: number;
      readonly reason: 'retry_after' | 'no_answer';
      readonly more: number;
    }
  | { readonly kind: 'requests_lost'; readonly requests: number }
  | { readonly kind: 'run_ended'; readonly reason: string }
);

/** A node that died within the last day. */
export interface DeadNode extends NodeInfo {
  readonly startedAt: number;
  readonly diedAtMs: number;
  /** Requests that it held; `held` has the ids of the first `MAX_HELD_IDS`. */
  readonly requests: number;
  readonly held: readonly string[];
  /** Pages that it had settled as done or failed. */
  readonly pages: number;
  /** What it reported last; null when it never did. */
  readonly facts: NodeFacts | null;
}

/** A domain as it stands in the queue. */
export interface DomainState {
  readonly name: string;
  readonly pending: number;
  readonly leased: number;
  /** Requests that may be leased at the same time. */
  readonly limit: number;
  /** The delay in force, and who asked for it. */
  readonly delayMs: number;
  readonly delayBy: 'settings' | 'robots' | 'autothrottle' | null;
  /** Whether RANDOMIZE_DOWNLOAD_DELAY makes it up to 1.5 times as long. */
  readonly isDelayRandom: boolean;
  /** Until it may be leased from; 0: now. */
  readonly dueInMs: number;
  /**
   * Why, where it is not the delay: a pause that the site asked for, one that crawlnode makes since the site does not answer
   * (`autothrottle`), or a robots.txt that is not known yet.
   */
  readonly blockedBy: 'retry_after' | 'autothrottle' | 'robots' | null;
  /** Mean latency of its answers; 0 when there were none. */
  readonly latencyMs: number;
}

/** The same with what was reported of it. */
export interface KnownDomain extends DomainState {
  readonly counts: DomainCounts;
}

/** What is known of the robots.txt of an origin. */
export interface DomainRobots {
  readonly origin: string;
  /** `claimed`: a node fetches it. `waiting`: for another attempt. */
  readonly state: 'claimed' | 'rules' | 'waiting' | 'unreachable';
  /** Why it is unreachable. */
  readonly reason: string | null;
  /** Its Crawl-delay; 0 for none. */
  readonly delayMs: number;
  /** For how long this holds. */
  readonly forMs: number;
}

/** All that is known of one domain. */
export interface InspectedDomain extends KnownDomain {
  readonly robots: readonly DomainRobots[];
}

/** What decisions about a crawl need (`telemetry/assess.ts`), at one instant. */
export interface CrawlFacts {
  /** In ms since 1970, by the store's clock. */
  readonly atMs: number;
  readonly control: Control;
  readonly closing: string | null;
  /** Pages that the budget of the run leaves; null without one. */
  readonly pagesLeft: number | null;
  readonly startUrls: number;
  readonly pending: number;
  readonly suspects: number;
  /** 1 where a suspect may be leased now, within the limits of its domain; 0 while another one is processed. */
  readonly leasableSuspects: number;
  readonly delayed: number;
  /** Until the first delayed request is due; null when none is. */
  readonly delayedDueInMs: number | null;
  readonly leased: number;
  /** Counted since the crawl began. `failures`: since its run began. */
  readonly accepted: number;
  readonly done: number;
  readonly failures: number;
  readonly items: number;
  readonly retries: number;
  readonly queueLimit: number;
  /** `Tunables.memoryLimit`, and what it limits: `limitedBytes` as they are now; 0 without a limit, as it is not measured then. */
  readonly memoryLimit: number;
  readonly storedBytes: number;
  /** Committed items that wait to be written. */
  readonly outbox: number;
  /** Domains with pending requests; and those of them that may be leased from now. */
  readonly queuedDomains: number;
  readonly readyDomains: number;
  /** The first ready domains in order, at most `READY_DOMAINS_READ`. */
  readonly ready: readonly DomainState[];
  /** Domains that wait or have leases, as many at most of each. */
  readonly busy: readonly DomainState[];
  /** What the live nodes reported last. */
  readonly nodes: readonly NodeFacts[];
  /** Live nodes, those included that have not reported yet. */
  readonly liveNodes: number;
  /** CPU time of the whole Redis server since its start, in seconds; null on the embedded engine, and where INFO may not be asked. */
  readonly storeCpuSeconds: number | null;
}

/** What keeps a crawl from being faster. */
export type LimitedBy =
  | 'nodes'
  | 'domain_delay'
  | 'domain_concurrency'
  | 'robots'
  | 'retry_wait'
  | 'queue_limit'
  | 'budget'
  | 'store'
  | 'outbox'
  | 'browser'
  | 'suspect'
  | 'paused'
  | 'stopping'
  | 'empty';

/**
 * When all requests that are known now are done: by the rate of the last minutes, or as long as the slowest domain takes. Null
 * `seconds`: pages bring so many new requests each that nobody can tell.
 */
export type Eta =
  | { readonly seconds: number; readonly by: 'rate'; readonly domain: null }
  | { readonly seconds: number; readonly by: 'slowest_domain'; readonly domain: string }
  | { readonly seconds: null; readonly reason: 'discovering'; readonly newPerPage: number };

/** What one node found out of `CrawlFacts`, for all who look at the crawl. */
export interface Assessment {
  readonly atMs: number;
  readonly limitedBy: LimitedBy;
  /** The same in a sentence, with its numbers. */
  readonly sentence: string;
  /** Requests that may be leased now; `atLeast` where there are more ready domains than were counted. */
  readonly leasable: number | { readonly atLeast: number };
  /** Of all live nodes. */
  readonly slots: number;
  readonly slotsUsed: number;
  /** Slots that could be used now: what is leased, and what may be leased within the limits. */
  readonly usableSlots: number;
  /** Null where nothing goes on that could be measured. */
  readonly eta: Eta | null;
  /** How many nodes the work asks for: the most of the last five minutes. 0 at once where no node has anything to do: paused, closing, ended. */
  readonly wantedNodes: number;
}

/** The crawl at one instant of its history. Totals count since the crawl began; `failures`: since its run began. */
export interface HistoryPoint {
  readonly atMs: number;
  readonly pages: number;
  readonly items: number;
  readonly failures: number;
  readonly retries: number;
  readonly accepted: number;
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly nodes: number;
  readonly limitedBy: LimitedBy;
  /** At this instant alone. */
  readonly wantedNodes: number;
  /** CPU time of all nodes per second of time, as they reported it last: 1 is one core. */
  readonly nodesCpu: number;
  /** As in `CrawlFacts`. */
  readonly storeCpuSeconds: number | null;
}

/** Of history: a point for each, while nodes run. */
export type HistoryStep = 'ten_seconds' | 'minute';

/** What nodes report of a crawl, and what is kept of it. A reset of `stats` removes it, and no backup has it. */
export interface Telemetry {
  /**
   * Add what a live node has done. Never part of the heartbeat: a report may fail.
   * @returns whether a point of the history is due; then the caller is the one to `record` it.
   */
  report(incarnation: string, report: NodeReport): Promise<boolean>;
  /** Read what a point of the history is made of; null without a crawl. */
  facts(): Promise<CrawlFacts | null>;
  /**
   * Keep a point of the history and the assessment that belongs to it.
   * @param minutes how many points a minute apart are kept @param storedBytes as in `CrawlFacts`; `Tunables.memoryLimit` goes by it
   */
  record(point: HistoryPoint, assessment: Assessment, minutes: number, storedBytes?: number): Promise<void>;
  /** The points of a span of time, in order; none where no node ran. */
  history(step: HistoryStep, fromMs: number, toMs: number): Promise<HistoryPoint[]>;
  /** The last events, oldest first: those after a number, at most `MAX_EVENTS`. */
  events(after: number): Promise<CrawlEvent[]>;
  /** Domains that nodes have reported of, the most recently active first: up to `max` after the first `from`. */
  domains(from: number, max: number): Promise<KnownDomain[]>;
  /** One domain, also one that no node has reported of yet; null where the crawl knows nothing of it. */
  domain(name: string): Promise<InspectedDomain | null>;
}
