/** What the frontier tells of a crawl: to `stats`, `inspect`, `failed` and `doctor`. */
import type { FeedChange, OpenedCheckpoint } from '../../feed-outbox.js';
import type { StatValue } from '../../stats/stat-change.js';
import type { Control, FailedRequest, NodeInfo, RequestLife, RequestState, Shape } from './crawl.js';

import type { Assessment, DeadNode, NodeFacts } from './telemetry.js';

export type { StatValue };

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
  /**
   * Requests whose records have vanished from the store: somebody deleted keys or rows, or Redis evicted them. Also items that a
   * repair found to have vanished before they were written: it counts each as accepted too.
   */
  readonly lost: number;
  readonly seen: number;
  /** As in `CrawlState`. */
  readonly seenGone: number;
  readonly seenExpires: boolean;
  readonly items: number;
  readonly domains: number;
  /** Memory or disk space of each part, estimated from samples. Failed requests count to the frontier. */
  readonly bytes: Readonly<Record<'frontier' | 'dupefilter' | 'startUrls' | 'items' | 'stats', number>>;
  /** Memory in use of a single Redis, and its maxmemory; null for others, without a limit, and where INFO may not be asked. */
  readonly memory: { readonly usedBytes: number; readonly limitBytes: number } | null;
  /** The live nodes. */
  readonly nodes: readonly NodeSnapshot[];
  readonly deadNodes: readonly DeadNode[];
  /** Of the last point of the history; null before the first. */
  readonly assessment: Assessment | null;
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
  /** `Tunables.memoryLimit` likewise. */
  readonly memoryLimit: number | null;
  /** When the crawl began, with its first request or node since a reset; null when there is no crawl. */
  readonly beganAtMs: number | null;
  /** When a node or a command last changed the crawl, to about a second; null when there is no crawl. */
  readonly usedAtMs: number | null;
  /** Since when the dupefilter records fingerprints: the beginning of the crawl, or the last reset of the dupefilter. */
  readonly seenSinceMs: number | null;
}

/** What of a crawl counts to `Tunables.memoryLimit`: all but the seeds in their keys, which others put there. */
export function limitedBytes({ frontier, dupefilter, items, stats }: Snapshot['bytes']): number {
  return frontier + dupefilter + items + stats;
}

/** What the crawl takes, and `Tunables.memoryLimit`, where it is at that limit; else null. */
export function memoryAtLimit({
  memoryLimit,
  bytes,
}: Pick<Snapshot, 'memoryLimit' | 'bytes'>): { readonly bytes: number; readonly limit: number } | null {
  const limit = memoryLimit ?? 0;
  const taken = limitedBytes(bytes);
  return limit > 0 && taken >= limit ? { bytes: taken, limit } : null;
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
  /** What it reported last; null before its first report. */
  readonly facts: NodeFacts | null;
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
  /** What the counters have grown by in this run. */
  readonly counters: Readonly<Record<string, number>>;
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
  /** The last sign of life of its writer; 0 once it has left a crawl that was finished. */
  readonly seenAtMs: number;
  readonly checkpoint: OpenedCheckpoint | null;
  /** How the file is not as the crawl has left it, until that is mended or accepted; null where nobody has found anything. */
  readonly change: FeedChange | null;
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
  /** The state in a StateDupeFilter; null with other classes, and for a dontFilter, unknown or forgotten request. */
  readonly life: RequestLife | null;
}

/** The fields of a record that a repair needs. The frontier itself does not read records. */
export interface RecordedRequest {
  readonly domain: string;
  readonly priority: number;
  readonly acceptedAtMs: number;
}

/** What a repair has left: requests by state, and what it could not bring back. */
export interface Repaired extends Pick<Snapshot, 'pending' | 'delayed' | 'failed'> {
  /** Requests that failed because their records cannot be read. */
  readonly unreadable: number;
  /** What is lost: sentences without a verb, such as `3 requests`. */
  readonly losses: readonly string[];
}

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
