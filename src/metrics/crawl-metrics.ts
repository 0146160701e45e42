/**
 * Metrics of crawls in Prometheus' text format: what is the crawl's, once, from the store. What each node did comes from the
 * nodes themselves (`src/node/telemetry/`).
 */
import { type CrawlName, crawlName } from '../crawler/project/crawls-in-store.js';
import { crawlStates } from '../crawler/stats/crawl-state.js';
import type { CrawlStats } from '../crawler/stats/crawl-stats.js';
import type { DomainReport } from '../crawler/stats/domain-reports.js';
import { isStoreAway, RefusedError } from '../errors.js';
import { least } from '../frontier/telemetry/demand.js';

/** Reads one crawl of a store. */
export interface CrawlReader extends CrawlName {
  stats(): Promise<CrawlStats>;
  /** The METRICS_DOMAINS domains with most pending requests; none by default. */
  domains(): Promise<readonly DomainReport[]>;
}

/**
 * Read all crawls of a store. While it does not answer, the text says only that it is down, since old numbers would pass for
 * new ones. A crawl that refuses access does not hide the others.
 * @param list finds the crawls
 */
export async function crawlMetrics(list: () => Promise<readonly CrawlReader[]>): Promise<string> {
  const client = await import('prom-client');
  try {
    const crawls = await list();
    const read = await Promise.all(crawls.map(readCrawl));
    const metrics = newMetrics(client);
    for (const each of read) if (each !== null) note(metrics, each);
    const memory = read.find((each) => each !== null)?.stats.storeMemory;
    if (memory) metrics.setMemory(memory);
    metrics.storeUp.set(1);
    return await metrics.registry.metrics();
  } catch (error) {
    if (!isStoreAway(error)) throw error;
    return await newMetrics(client).registry.metrics();
  }
}

interface ReadCrawl {
  readonly crawl: string;
  readonly stats: CrawlStats;
  readonly domains: readonly DomainReport[];
}

async function readCrawl(crawl: CrawlReader): Promise<ReadCrawl | null> {
  try {
    const [stats, domains] = await Promise.all([crawl.stats(), crawl.domains()]);
    return { crawl: crawlName(crawl), stats, domains };
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

type Metrics = ReturnType<typeof newMetrics>;

/** Of one reading. The name of the crawl is always the first label. */
function newMetrics({ Counter, Gauge, Registry }: typeof import('prom-client')) {
  const registry = new Registry();
  const how = (name: string, help: string, labels: readonly string[]) => ({
    ...{ name: `crawlnode_${name}`, help, labelNames: ['crawl', ...labels], registers: [registry] },
  });
  const gauge = (name: string, help: string, ...labels: string[]) => new Gauge(how(name, help, labels));
  const counter = (name: string, help: string) => new Counter(how(name, help, []));
  const ofStore = (name: string, help: string) => new Gauge({ ...how(name, help, []), labelNames: [] });
  return {
    registry,
    storeUp: ofStore('store_up', 'Whether the store answers'),
    setMemory({ usedBytes, limitBytes }: NonNullable<CrawlStats['storeMemory']>) {
      ofStore('store_memory_bytes', 'Memory in use of the Redis').set(usedBytes);
      ofStore('store_memory_limit_bytes', 'The maxmemory of the Redis').set(limitBytes);
    },
    requests: gauge('crawl_requests', 'Requests of the crawl, by state', 'state'),
    leasable: gauge(
      'crawl_leasable_requests',
      'Pending requests that a node may have now; a lower bound where very many domains wait',
    ),
    nodes: gauge('crawl_nodes', 'Live nodes'),
    wantedNodes: gauge('crawl_wanted_nodes', 'Nodes that the work asks for'),
    deaths: counter('crawl_node_deaths_total', 'Nodes that counted as dead'),
    lost: counter('crawl_lost_requests_total', 'Requests that vanished from the store'),
    state: gauge('crawl_state', '1 for the state that the crawl is in', 'state'),
    bytes: gauge('crawl_bytes', 'Space in the store, estimated from samples', 'part'),
    outbox: gauge('crawl_outbox_items', 'Committed items that wait to be written', 'feed'),
    oldestLease: gauge('crawl_oldest_lease_seconds', 'Age of the oldest lease when its node last reported'),
    domains: gauge('crawl_domain_requests', 'Pending and leased requests of a domain', 'domain'),
  };
}

function note(metrics: Metrics, { crawl, stats, domains }: ReadCrawl): void {
  for (const state of ['pending', 'delayed', 'leased', 'done', 'failed'] as const)
    metrics.requests.set({ crawl, state }, stats[state]);
  metrics.leasable.set({ crawl }, least(stats.leasable ?? 0));
  metrics.nodes.set({ crawl }, stats.nodes.length);
  metrics.wantedNodes.set({ crawl }, stats.wantedNodes ?? 0);
  metrics.deaths.inc({ crawl }, stats.counters['nodes/died'] ?? 0);
  metrics.lost.inc({ crawl }, stats.lost);
  for (const state of crawlStates) metrics.state.set({ crawl, state }, Number(stats.state === state));
  for (const [part, size] of Object.entries(stats.bytes)) metrics.bytes.set({ crawl, part }, size);
  // Several machines may write a file of the same path.
  for (const { path, waiting } of stats.feeds) metrics.outbox.inc({ crawl, feed: path }, waiting);
  for (const { pipeline, waiting } of stats.pipelines) metrics.outbox.inc({ crawl, feed: pipeline }, waiting);
  const leases = [...stats.nodes, ...stats.silentNodes].map(({ facts }) => facts?.oldestLeaseMs ?? 0);
  metrics.oldestLease.set({ crawl }, Math.max(0, ...leases) / 1_000);
  for (const { domain, pending, leased } of domains)
    if (domain !== null) metrics.domains.set({ crawl, domain }, pending + leased);
}
