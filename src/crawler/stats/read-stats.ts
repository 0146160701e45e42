/** Reads the stats of a crawl from its store. */
import type { Assessment, Frontier, Snapshot } from '../../frontier/frontier.js';
import { aged, assessNow } from '../../frontier/telemetry/assess.js';
import { type CrawlStats, statsOf } from './crawl-stats.js';
import { readDeadNodes } from './dead-nodes.js';
import { DomainReader } from './domain-reports.js';

/** An assessment of a running crawl holds for three steps of its history. */
const FRESH_MS = 30_000;
const WORST_DOMAINS = 5;
const SLOWLY_EVERY_MS = 10_000;

export interface ReadCrawl {
  readonly spider: string;
  readonly job: string | null;
  readonly frontier: Frontier;
  /** SCALE_MAX, for a crawl that no node has assessed lately. */
  readonly scaleMax: number;
}

/** One who looks at a crawl, once or again and again. */
export class StatsReader {
  readonly #crawl: ReadCrawl;
  readonly #domains: DomainReader;
  #slow: { readonly read: SlowlyRead; readonly atMs: number; readonly deaths: string } | null = null;

  constructor(crawl: ReadCrawl) {
    this.#crawl = crawl;
    this.#domains = new DomainReader(crawl.frontier);
  }

  async read(): Promise<CrawlStats> {
    const { frontier } = this.#crawl;
    const snapshot = await frontier.snapshot();
    const assessment = await assessmentNow(this.#crawl, snapshot);
    return { ...statsOf(this.#crawl, snapshot, assessment), ...(await this.#slowly(snapshot)) };
  }

  /** What costs the store more than a snapshot is read less often. */
  async #slowly({ deadNodes }: Snapshot): Promise<SlowlyRead> {
    const now = performance.now();
    const deaths = deadNodes.map(({ diedAtMs }) => diedAtMs).join();
    if (this.#slow === null || this.#slow.deaths !== deaths || now - this.#slow.atMs >= SLOWLY_EVERY_MS) {
      const read = {
        worstDomains: await this.#domains.worst(WORST_DOMAINS),
        deadNodes: await readDeadNodes(this.#crawl.frontier, deadNodes),
      };
      this.#slow = { read, atMs: now, deaths };
    }
    return this.#slow.read;
  }
}

type SlowlyRead = Pick<CrawlStats, 'worstDomains' | 'deadNodes'>;

/** That of the nodes; while none has made one lately, what the facts say now. */
async function assessmentNow(
  { frontier: { telemetry }, scaleMax }: ReadCrawl,
  snapshot: Snapshot,
): Promise<Assessment | null> {
  return freshAssessment(snapshot) ?? (await assessNow(telemetry, scaleMax))?.assessment ?? null;
}

/** What live nodes have found out lately; null where they have not, or the crawl was paused, resumed or closed since. */
export function freshAssessment({ assessment, nodes, control, run }: Snapshot): Assessment | null {
  if (assessment === null || nodes.length === 0) return null;
  const { limitedBy, wantedNodes } = assessment;
  const isPaused = control === 'paused';
  if (isPaused !== (limitedBy === 'paused') || (run?.closed != null && wantedNodes > 0)) return null;
  // The clock of the store may be another one.
  const ageMs = Date.now() - assessment.atMs;
  return Math.abs(ageMs) < FRESH_MS ? aged(assessment, Math.max(0, ageMs)) : null;
}
