/** What a crawl of a given size takes: nodes, Redis, network and time. */
import { CPU_PER_NODE } from '../../frontier/telemetry/demand.js';
import { benched, benchedDupefilters, type PageCosts } from './costs.js';

/** The crawl that is planned. */
export interface PlannedWork {
  readonly pages: number;
  readonly domains: number;
  readonly pagesPerSecond: number;
}

/** The settings that the plan depends on. */
export interface PlannedSettings {
  /** CONCURRENT_REQUESTS. */
  readonly slots: number;
  /** CONCURRENT_REQUESTS_PER_DOMAIN. */
  readonly slotsPerDomain: number;
  /** DOWNLOAD_DELAY, in seconds. */
  readonly delay: number;
  /** SCHEDULER_QUEUE_LIMIT; 0 for none. */
  readonly queueLimit: number;
}

/** The fields of `plan --json`. CPU time is in seconds, and cores are seconds of it per second. */
export interface Plan extends PlannedWork {
  readonly days: number;
  /** At most, by the delay and the concurrency that each domain is allowed. */
  readonly domainsAllowPagesPerSecond: number;
  readonly nodes: {
    readonly count: number;
    /** Why it is not fewer. */
    readonly countedBy: 'cpu' | 'slots';
    readonly cores: number;
    readonly cpuSeconds: number;
    readonly memoryBytes: number;
  };
  /** For each dupefilter. `servers`: each Redis runs on one core. */
  readonly redis: readonly RedisPlan[];
  readonly network: {
    readonly bytes: number;
    readonly bytesPerSecond: number;
    readonly redisBytesPerSecond: number;
  };
  /** What was calculated with. */
  readonly costs: PageCosts;
}

export interface RedisPlan {
  readonly dupefilter: string;
  readonly cores: number;
  readonly servers: number;
  readonly cpuSeconds: number;
  /** At the largest, with the waiting requests. */
  readonly memoryBytes: number;
  readonly dupefilterBytes: number;
  readonly queueBytes: number;
}

export function planOf(work: PlannedWork, costs: PageCosts, settings: PlannedSettings): Plan {
  const { pages, domains, pagesPerSecond } = work;
  const coresOf = (msPerPage: number) => (pagesPerSecond * msPerPage) / 1_000;
  const byCpu = Math.ceil(coresOf(costs.nodeMs) / CPU_PER_NODE);
  const bySlots = Math.ceil((pagesPerSecond * costs.slotMs) / 1_000 / settings.slots);
  const count = Math.max(1, byCpu, bySlots);
  const waiting = Math.min(pages * costs.waitingShare, mostQueued(settings));
  const queueBytes = waiting * benched.requestBytes + Math.min(domains, waiting) * benched.domainBytes;
  return {
    ...work,
    days: pages / pagesPerSecond / 86_400,
    domainsAllowPagesPerSecond: domains * pagesPerSecondOfDomain(costs, settings),
    nodes: {
      ...{ count, countedBy: byCpu >= bySlots ? 'cpu' : 'slots', cores: coresOf(costs.nodeMs) },
      cpuSeconds: (pages * costs.nodeMs) / 1_000,
      memoryBytes: count * benched.nodeBytes,
    },
    redis: Object.entries(benchedDupefilters).map(([dupefilter, { bytes, redisMs }]) => {
      const msPerPage = costs.redisMs + redisMs - benchedDupefilters.RFPDupeFilter.redisMs;
      const dupefilterBytes = pages * bytes;
      return {
        ...{ dupefilter, cores: coresOf(msPerPage), cpuSeconds: (pages * msPerPage) / 1_000 },
        servers: Math.max(1, Math.ceil(coresOf(msPerPage) / CPU_PER_NODE)),
        memoryBytes: benched.emptyRedisBytes + dupefilterBytes + queueBytes,
        ...{ dupefilterBytes, queueBytes },
      };
    }),
    network: {
      bytes: pages * costs.bytes,
      bytesPerSecond: pagesPerSecond * costs.bytes,
      redisBytesPerSecond: pagesPerSecond * benched.redisTrafficBytes,
    },
    costs,
  };
}

/** Links are dropped at twice the limit. */
function mostQueued({ queueLimit }: PlannedSettings): number {
  return queueLimit === 0 ? Number.POSITIVE_INFINITY : 2 * queueLimit;
}

function pagesPerSecondOfDomain(
  { slotMs, downloads }: PageCosts,
  { delay, slotsPerDomain }: PlannedSettings,
): number {
  const byConcurrency = slotsPerDomain / (slotMs / 1_000);
  return delay === 0 ? byConcurrency : Math.min(byConcurrency, 1 / delay / downloads);
}
