/** The JSON of `crawlnode stats`, which scripts of users read. */
import { isPipelineOutbox } from '../../feed-outbox.js';
import { dataFormats } from '../../frontier/data-format.js';
import type {
  Assessment,
  Control,
  Eta,
  Frontier,
  NodeSnapshot,
  OutboxSnapshot,
  RunSnapshot,
  Shape,
  Snapshot,
} from '../../frontier/frontier.js';
import { type CrawlState, crawlStateOf } from './crawl-state.js';
import { type DeadNodeStats, withoutUrls } from './dead-nodes.js';
import type { DomainReport } from './domain-reports.js';

/** The names and the order of the fields up to `counters` are stable. */
export interface CrawlStats {
  /** The name of the spider. */
  readonly spider: string;
  /** null when unnamed. */
  readonly job: string | null;
  /** Where the crawl is stored. */
  readonly engine: 'redis' | 'embedded';
  /** Seeds in the start_urls keys that no node has read yet. */
  readonly startUrls: number;
  /** Requests that wait for a node, except the delayed ones. */
  readonly pending: number;
  /** Requests that are due later, such as retries. */
  readonly delayed: number;
  /** Requests that a node is processing. */
  readonly leased: number;
  /** Requests that are done: processed, or refused for good. */
  readonly done: number;
  /** Requests that were given up; `crawlnode failed SPIDER list` shows them. */
  readonly failed: number;
  /** Fingerprints in the dupefilter. */
  readonly seen: number;
  /** Items in the items list. */
  readonly items: number;
  /** Estimated from samples: memory in Redis, disk on the embedded engine. */
  readonly bytes: Snapshot['bytes'];
  /** Live nodes. */
  readonly nodes: readonly Omit<NodeSnapshot, 'clockAheadMs'>[];
  /** Counters, by Scrapy's names. */
  readonly counters: Readonly<Record<string, number>>;
  /** The latest run, with the reason why it ended or is closing; null before the first node. */
  readonly run: RunSnapshot | null;
  /** Pages per second of all live nodes, as they report them. */
  readonly pagesPerSecond: number;
  /** Requests accepted since the crawl began: pending + delayed + leased + done + failed + removed + lost. */
  readonly accepted: number;
  /** Requests that a command deleted, such as `failed purge`. */
  readonly removed: number;
  /** Requests whose records disappeared from the store: somebody deleted keys or rows, or Redis evicted them. */
  readonly lost: number;
  /** Pending requests whose node died while it processed them. */
  readonly suspects: number;
  /** Seeds set aside as bad. */
  readonly badSeeds: number;
  /** Domains with pending or leased requests, or with a running delay. */
  readonly domains: number;
  /** The last order of `pause`, `resume` or `stop`. */
  readonly control: Control;
  /** Nodes without a heartbeat for NODE_TIMEOUT. Their requests go back to pending. */
  readonly silentNodes: CrawlStats['nodes'];
  /** The files of `-o` and FEEDS. */
  readonly feeds: readonly Omit<OutboxSnapshot, 'checkpoint' | 'seenAtMs'>[];
  /** The item pipelines with `committed`. */
  readonly pipelines: readonly PipelineStats[];
  /** Number of the data format. */
  readonly format: number;
  /** Settings that all nodes share; null until the first node has joined. */
  readonly shape: Shape | null;
  /** What the crawl is doing, in a word. */
  readonly state: CrawlState;
  /** Stats of the code of the project (`spider.stats`), by name: numbers and texts. */
  readonly customStats: Snapshot['custom'];
  /** What keeps the crawl from being faster, in a word; null when the store has no crawl. */
  readonly limitedBy: Assessment['limitedBy'] | null;
  /** The same in a sentence, with its numbers. */
  readonly limitedByText: string | null;
  /** Pending requests that may be leased now; `{ atLeast }` where there are more domains than were counted. */
  readonly leasable: Assessment['leasable'] | null;
  /** CONCURRENT_REQUESTS of all live nodes. */
  readonly slots: number | null;
  /** How many of the slots are in use. */
  readonly slotsUsed: number | null;
  /** How many of the slots could be used now, within the limits of the domains. */
  readonly usableSlots: number | null;
  /** When all requests that are known are done; null while nothing goes on. */
  readonly eta: Eta | null;
  /** Nodes that the work asks for: the most of the last five minutes; 0 at once where it is paused, closing or ended. */
  readonly wantedNodes: number | null;
  /** Memory in use of a Redis and its limit; null where it has none, in a Cluster, and on the embedded engine. */
  readonly storeMemory: Snapshot['memory'];
  /** Nodes that died within a day, and the requests that they held. */
  readonly deadNodes: readonly DeadNodeStats[];
  /** Of the domains that were active last, the five with most failed requests. */
  readonly worstDomains: readonly DomainReport[];
  /** When the crawl began, in ms since 1970; null when the store has none. */
  readonly beganAtMs: number | null;
  /** When a node or a command last changed it. */
  readonly usedAtMs: number | null;
  /** SCHEDULER_MEMORY_LIMIT of the latest node, in bytes; 0 for none, null before the first. It limits `bytes` without `startUrls`. */
  readonly memoryLimit: number | null;
}

/** An item pipeline with `committed`. */
export interface PipelineStats {
  /** Its module, as ITEM_PIPELINES names it. */
  readonly pipeline: string;
  /** Committed items that it has yet to accept. */
  readonly waiting: number;
  /** The machine of the node that calls it, or has called it last. */
  readonly host: string;
  /** The process that calls it; null when there is none. It may have died since. */
  readonly callerPid: number | null;
}

export function statsOf(
  crawl: {
    readonly spider: string;
    readonly job: string | null;
    readonly frontier: Pick<Frontier, 'engine'>;
  },
  snapshot: Snapshot,
  assessment: Assessment | null = snapshot.assessment,
): CrawlStats {
  const { startUrls, pending, delayed, leased, done, failed, seen, items, bytes, counters } = snapshot;
  const { accepted, removed, lost, suspects, badSeeds, domains, control, run, shape } = snapshot;
  const nodes = snapshot.nodes.map(describe);
  const pagesPerSecond = nodes.reduce((sum, node) => sum + node.pagesPerSecond, 0);
  return {
    ...{ spider: crawl.spider, job: crawl.job, engine: crawl.frontier.engine },
    ...{ startUrls, pending, delayed, leased, done, failed, seen, items, bytes, nodes, counters, run },
    ...{ pagesPerSecond: Math.round(pagesPerSecond * 100) / 100 },
    ...{ accepted, removed, lost, suspects, badSeeds, domains, control },
    ...{
      silentNodes: snapshot.silent.map(describe),
      feeds: snapshot.outbox
        .filter(({ feed }) => !isPipelineOutbox(feed))
        .map(({ checkpoint: _, seenAtMs: __, ...feed }) => feed),
      pipelines: snapshot.outbox.filter(({ feed }) => isPipelineOutbox(feed)).map(pipelineStats),
      format: dataFormats[crawl.frontier.engine],
      shape,
      state: crawlStateOf({ ...snapshot, nodes }),
      customStats: snapshot.custom,
      limitedBy: assessment?.limitedBy ?? null,
      limitedByText: assessment?.sentence ?? null,
      leasable: assessment?.leasable ?? null,
      slots: assessment?.slots ?? null,
      slotsUsed: assessment?.slotsUsed ?? null,
      usableSlots: assessment?.usableSlots ?? null,
      eta: assessment?.eta ?? null,
      wantedNodes: assessment?.wantedNodes ?? null,
      storeMemory: snapshot.memory,
      deadNodes: snapshot.deadNodes.map(withoutUrls),
      worstDomains: [],
      beganAtMs: snapshot.beganAtMs,
      usedAtMs: snapshot.usedAtMs,
      memoryLimit: snapshot.memoryLimit,
    },
  };
}

function pipelineStats({ path, waiting, host, writerPid }: OutboxSnapshot): PipelineStats {
  return { pipeline: path, waiting, host, callerPid: writerPid };
}

function describe({ clockAheadMs: _, ...node }: NodeSnapshot): CrawlStats['nodes'][number] {
  return node;
}

/** What all parts of the crawl take in the store. */
export function storedBytes({ bytes }: Pick<CrawlStats, 'bytes'>): number {
  return Object.values(bytes).reduce((total, part) => total + part, 0);
}

/** Items that the crawl has committed. `items` is what is in the items list: none where items go to files. */
export function committedItems({ counters, items }: Pick<CrawlStats, 'counters' | 'items'>): number {
  return counters.item_scraped_count ?? items;
}

/** The share of the known requests that is done; null while pages bring so many new ones that it says nothing. */
export function doneShare({
  eta,
  pending,
  delayed,
  leased,
  done,
  failed,
}: Pick<CrawlStats, 'eta' | 'pending' | 'delayed' | 'leased' | 'done' | 'failed'>): number | null {
  if (eta === null || eta.seconds === null) return null;
  return (done + failed) / Math.max(1, pending + delayed + leased + done + failed);
}
