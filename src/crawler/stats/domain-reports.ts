/** What is known of the domains of a crawl, as `stats` shows it. */
import type { Frontier, InspectedDomain, KnownDomain } from '../../frontier/frontier.js';
import { sum } from '../../frontier/telemetry/demand.js';
import { type DomainStats, domainStats, OTHER_DOMAINS } from '../../frontier/telemetry/domain-counts.js';
import { MAX_KNOWN_DOMAINS } from '../../frontier/types/limits.js';

/** How a domain stands, and what came of its requests since its crawl began. */
export interface DomainReport
  extends Omit<KnownDomain, 'name' | 'counts' | 'latencyMs' | 'isDelayRandom'>,
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
export const BLOCKED = ['401', '403', '429'];
/** Domains that one call to the store reads. */
const CHUNK = 200;
/** How long a reading of all domains holds: one of many costs the store some 15 µs for each. */
const FEW_HOLD_MS = 1_000;
const MANY_HOLD_MS = 30_000;

const weights: Readonly<Record<DomainOrder, (domain: DomainReport) => number>> = {
  pending: ({ pending }) => pending,
  // One that has never answered is slower than all others.
  slow: ({ p95Ms, leased, failures, retries }) =>
    p95Ms ?? (leased + (failures.timeout ?? 0) + (retries.timeout ?? 0) > 0 ? Number.MAX_SAFE_INTEGER : 0),
  failed: ({ failures, retries }) => sum(Object.values(failures)) * 1_000 + sum(Object.values(retries)),
  blocked: ({ statuses, blockedBy, dueInMs }) =>
    sum(BLOCKED.map((status) => statuses[status] ?? 0)) + (blockedBy === 'retry_after' ? dueInMs / 1e9 : 0),
};

/** A part of the domains in an order. */
export interface DomainPage {
  readonly domains: readonly DomainReport[];
  /** Where the next page begins; null for the last one. Domains that move in the order meanwhile may come twice, or not at all. */
  readonly next: string | null;
}

/** What the crawl knows of one domain. */
export type DomainDetail = DomainReport & Pick<InspectedDomain, 'robots'>;

/** One who looks at the domains of a crawl, once or again and again. */
export class DomainReader {
  readonly #telemetry: Frontier['telemetry'];
  #read: { readonly domains: readonly DomainReport[]; readonly atMs: number } | null = null;

  constructor({ telemetry }: Pick<Frontier, 'telemetry'>) {
    this.#telemetry = telemetry;
  }

  /** @param after `next` of the page before; null for the first */
  async page(order: DomainOrder, limit: number, after: string | null = null): Promise<DomainPage> {
    const all = sorted(await this.#all(), order);
    const from = after === null ? 0 : all.findIndex(({ domain }) => (domain ?? OTHER_DOMAINS) === after) + 1;
    if (after !== null && from === 0) return { domains: [], next: null };
    const domains = all.slice(from, from + limit);
    const isLast = from + limit >= all.length;
    return { domains, next: isLast ? null : (domains.at(-1)?.domain ?? OTHER_DOMAINS) };
  }

  /** Of the domains that were active last those with most failed requests, then those that turn the crawler away. */
  async worst(most: number): Promise<DomainReport[]> {
    const recent = (await this.#telemetry.domains(0, CHUNK)).map(reportOf);
    const isBad = (domain: DomainReport) => weights.failed(domain) + weights.blocked(domain) > 0;
    return sorted(sorted(recent.filter(isBad), 'blocked'), 'failed').slice(0, most);
  }

  /** One domain, also one that no node has reported of yet; null where the crawl knows nothing of it. */
  async one(name: string): Promise<DomainDetail | null> {
    const domain = await this.#telemetry.domain(name);
    if (domain === null) return null;
    const { robots, ...known } = domain;
    return { ...reportOf(known), robots };
  }

  async #all(): Promise<readonly DomainReport[]> {
    const now = performance.now();
    const last = this.#read;
    const holdsMs = (last?.domains.length ?? 0) < CHUNK ? FEW_HOLD_MS : MANY_HOLD_MS;
    if (last !== null && now - last.atMs < holdsMs) return last.domains;
    const domains: DomainReport[] = [];
    for (let from = 0; from <= MAX_KNOWN_DOMAINS; from += CHUNK) {
      const known = await this.#telemetry.domains(from, CHUNK);
      domains.push(...known.map(reportOf));
      if (known.length < CHUNK) break;
    }
    this.#read = { domains, atMs: now };
    return domains;
  }
}

function sorted(domains: readonly DomainReport[], order: DomainOrder): DomainReport[] {
  return [...domains].sort((a, b) => weights[order](b) - weights[order](a));
}

function reportOf({ name, counts, latencyMs: _, isDelayRandom: __, ...state }: KnownDomain): DomainReport {
  const { latency, ...stats } = domainStats(counts);
  return {
    domain: name === OTHER_DOMAINS ? null : name,
    ...state,
    ...stats,
    latencyMs: latency?.meanMs ?? null,
    p95Ms: latency?.p95Ms ?? null,
  };
}
