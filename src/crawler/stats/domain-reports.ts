/** What is known of the domains of a crawl, as `stats` shows it. */
import type { Frontier, KnownDomain } from '../../frontier/frontier.js';
import { sum } from '../../frontier/telemetry/demand.js';
import { type DomainStats, domainStats, OTHER_DOMAINS } from '../../frontier/telemetry/domain-counts.js';
import { MAX_KNOWN_DOMAINS } from '../../frontier/types/limits.js';

/** How a domain stands, and what came of its requests since its crawl began. */
export interface DomainReport
  extends Omit<KnownDomain, 'name' | 'counts' | 'latencyMs'>,
    Omit<DomainStats, 'latency'> {
  /** Null: all domains that the reports of nodes did not name. */
  readonly domain: string | null;
  /** Mean and 95th percentile of the time until the first byte of an answer; null without answers. */
  readonly latencyMs: number | null;
  readonly p95Ms: number | null;
}

export const domainOrders = ['pending', 'slow', 'failed', 'blocked'] as const;

export type DomainOrder = (typeof domainOrders)[number];

/** Statuses by which sites turn crawlers away. */
const BLOCKED = ['401', '403', '429'];
/** Domains that one call to the store reads. */
const CHUNK = 200;

const weights: Readonly<Record<DomainOrder, (domain: DomainReport) => number>> = {
  pending: ({ pending }) => pending,
  slow: ({ p95Ms }) => p95Ms ?? 0,
  failed: ({ failures, retries }) => sum(Object.values(failures)) * 1_000 + sum(Object.values(retries)),
  blocked: ({ statuses, blockedBy, dueInMs }) =>
    sum(BLOCKED.map((status) => statuses[status] ?? 0)) + (blockedBy === 'retry_after' ? dueInMs / 1e9 : 0),
};

/** The domains that are kept, in an order; those beyond `most` are left out. */
export async function readDomains(
  { telemetry }: Pick<Frontier, 'telemetry'>,
  order: DomainOrder,
  most: number,
): Promise<DomainReport[]> {
  const all: DomainReport[] = [];
  for (let from = 0; from <= MAX_KNOWN_DOMAINS; from += CHUNK) {
    const known = await telemetry.domains(from, CHUNK);
    all.push(...known.map(reportOf));
    if (known.length < CHUNK) break;
  }
  return sorted(all, order).slice(0, most);
}

/** Of the domains that were active last those with most failed requests, then those that turn the crawler away. */
export async function readWorstDomains(
  { telemetry }: Pick<Frontier, 'telemetry'>,
  most: number,
): Promise<DomainReport[]> {
  const recent = (await telemetry.domains(0, CHUNK)).map(reportOf);
  const isBad = (domain: DomainReport) => weights.failed(domain) + weights.blocked(domain) > 0;
  return sorted(sorted(recent.filter(isBad), 'blocked'), 'failed').slice(0, most);
}

function sorted(domains: readonly DomainReport[], order: DomainOrder): DomainReport[] {
  return [...domains].sort((a, b) => weights[order](b) - weights[order](a));
}

function reportOf({ name, counts, latencyMs: _, ...state }: KnownDomain): DomainReport {
  const { latency, ...stats } = domainStats(counts);
  return {
    domain: name === OTHER_DOMAINS ? null : name,
    ...state,
    ...stats,
    latencyMs: latency?.meanMs ?? null,
    p95Ms: latency?.p95Ms ?? null,
  };
}
