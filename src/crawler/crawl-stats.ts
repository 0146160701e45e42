/** The JSON of `crawlnode stats`; others script against it. */
import { dataFormats } from '../frontier/data-format.js';
import type { Control, Frontier, NodeSnapshot, RunSnapshot, Shape, Snapshot } from '../frontier/frontier.js';
import { type CrawlState, crawlStateOf } from './crawl-state.js';

/** The fields up to `counters` are fixed in their names and order; the others follow. */
export interface CrawlStats {
  readonly spider: string;
  /** null when unnamed. */
  readonly job: string | null;
  readonly engine: 'redis' | 'embedded';
  /** Seeds in the start_urls keys that no node has taken in yet. */
  readonly startUrls: number;
  /** Requests that wait for a node, without the delayed ones. */
  readonly pending: number;
  /** Requests that wait for their time, such as retries. */
  readonly delayed: number;
  /** Requests that a node is processing. */
  readonly leased: number;
  readonly done: number;
  /** Requests that were given up; `crawlnode failed SPIDER list` shows them. */
  readonly failed: number;
  /** Fingerprints in the dupefilter. */
  readonly seen: number;
  /** Items in the items list. */
  readonly items: number;
  /** Estimated from samples: memory in Redis, disk on the embedded engine. */
  readonly bytes: Snapshot['bytes'];
  /** The live ones. */
  readonly nodes: readonly Omit<NodeSnapshot, 'clockAheadMs'>[];
  /** Counters, by Scrapy's names. */
  readonly counters: Readonly<Record<string, number>>;
  /** The latest run, with the reason it ended for, or is closing; null before the first node. */
  readonly run: RunSnapshot | null;
  /** Pages per second of all live nodes, by their own word. */
  readonly pagesPerSecond: number;
  /** Requests accepted since the crawl began: pending + delayed + leased + done + failed + removed. */
  readonly accepted: number;
  /** Requests that a command deleted, such as `failed purge`. */
  readonly removed: number;
  /** Of the pending, those whose node died over them. */
  readonly suspects: number;
  /** Seeds set aside as bad. */
  readonly badSeeds: number;
  /** Domains that have something pending or leased, or a running delay. */
  readonly domains: number;
  /** What `pause`, `resume` and `stop` last asked for. */
  readonly control: Control;
  /** Nodes that have not been heard of for NODE_TIMEOUT; what they hold goes back to pending. */
  readonly silentNodes: CrawlStats['nodes'];
  /** The files of `-o` and FEEDS. */
  readonly feeds: Snapshot['outbox'];
  /** Number of the data format. */
  readonly format: number;
  /** What all nodes share; null until a first one has joined. */
  readonly shape: Shape | null;
  /** How the crawl stands, in one word. */
  readonly state: CrawlState;
}

export function statsOf(
  crawl: {
    readonly spider: string;
    readonly job: string | null;
    readonly frontier: Pick<Frontier, 'engine'>;
  },
  snapshot: Snapshot,
): CrawlStats {
  const { startUrls, pending, delayed, leased, done, failed, seen, items, bytes, counters } = snapshot;
  const { accepted, removed, suspects, badSeeds, domains, control, run, shape } = snapshot;
  const nodes = snapshot.nodes.map(describe);
  const pagesPerSecond = nodes.reduce((sum, node) => sum + node.pagesPerSecond, 0);
  return {
    ...{ spider: crawl.spider, job: crawl.job, engine: crawl.frontier.engine },
    ...{ startUrls, pending, delayed, leased, done, failed, seen, items, bytes, nodes, counters, run },
    ...{ pagesPerSecond: Math.round(pagesPerSecond * 100) / 100 },
    ...{ accepted, removed, suspects, badSeeds, domains, control },
    ...{
      silentNodes: snapshot.silent.map(describe),
      feeds: snapshot.outbox,
      format: dataFormats[crawl.frontier.engine],
      shape,
      state: crawlStateOf({ ...snapshot, nodes }),
    },
  };
}

function describe({ id, host, pid, startedAt, heartbeatAgeMs, leased, pages, pagesPerSecond }: NodeSnapshot) {
  return { id, host, pid, startedAt, heartbeatAgeMs, leased, pages, pagesPerSecond };
}

/** Items that the crawl has committed. `items` is what is in the items list: none where items go to files. */
export function committedItems({ counters, items }: Pick<CrawlStats, 'counters' | 'items'>): number {
  return counters.item_scraped_count ?? items;
}
