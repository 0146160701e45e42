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
  readonly startUrls: number;
  /** Without the delayed ones. */
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
  readonly seen: number;
  readonly items: number;
  readonly bytes: Snapshot['bytes'];
  /** The live ones. */
  readonly nodes: readonly Omit<NodeSnapshot, 'clockAheadMs'>[];
  readonly counters: Readonly<Record<string, number>>;
  /** The latest one, with the reason it ended for, or is closing; null before the first node. */
  readonly run: RunSnapshot | null;
  /** Pages per second of all live nodes, by their own word. */
  readonly pagesPerSecond: number;
  readonly accepted: number;
  readonly removed: number;
  /** Of the pending, those whose node died over them. */
  readonly suspects: number;
  readonly badSeeds: number;
  readonly domains: number;
  readonly control: Control;
  readonly silentNodes: CrawlStats['nodes'];
  readonly feeds: Snapshot['outbox'];
  readonly format: number;
  readonly shape: Shape | null;
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
