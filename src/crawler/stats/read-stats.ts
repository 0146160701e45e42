/** Reads the stats of a crawl from its store. */
import type { Assessment, Frontier, Snapshot } from '../../frontier/frontier.js';
import { aged, assessNow } from '../../frontier/telemetry/assess.js';
import { type CrawlStats, statsOf } from './crawl-stats.js';
import { type DomainReport, readWorstDomains } from './domain-reports.js';

/** An assessment of a running crawl holds for three steps of its history. */
const FRESH_MS = 30_000;
const WORST_DOMAINS = 5;
/** Domains are read at most this often. */
const DOMAINS_EVERY_MS = 10_000;

export interface ReadCrawl {
  readonly spider: string;
  readonly job: string | null;
  readonly frontier: Frontier;
}

/** One who looks at a crawl, once or again and again. */
export class StatsReader {
  readonly #crawl: ReadCrawl;
  #worst: { readonly domains: readonly DomainReport[]; readonly atMs: number } | null = null;

  constructor(crawl: ReadCrawl) {
    this.#crawl = crawl;
  }

  async read(): Promise<CrawlStats> {
    const { frontier } = this.#crawl;
    const snapshot = await frontier.snapshot();
    const assessment = await assessmentNow(frontier, snapshot);
    return { ...statsOf(this.#crawl, snapshot, assessment), worstDomains: await this.#worstDomains() };
  }

  async #worstDomains(): Promise<readonly DomainReport[]> {
    const now = performance.now();
    if (this.#worst === null || now - this.#worst.atMs >= DOMAINS_EVERY_MS) {
      this.#worst = { domains: await readWorstDomains(this.#crawl.frontier, WORST_DOMAINS), atMs: now };
    }
    return this.#worst.domains;
  }
}

/** That of the nodes; while none has made one lately, what the facts say now. */
async function assessmentNow(
  { telemetry }: Frontier,
  { assessment, nodes }: Snapshot,
): Promise<Assessment | null> {
  // The clock of the store may be another one.
  const ageMs = assessment === null ? Number.POSITIVE_INFINITY : Date.now() - assessment.atMs;
  if (assessment !== null && Math.abs(ageMs) < FRESH_MS && nodes.length > 0) {
    return aged(assessment, Math.max(0, ageMs));
  }
  return (await assessNow(telemetry))?.assessment ?? null;
}
