/**
 * What is counted of a domain, as amounts by short names, which the store adds up without knowing them:
 *   p         pages that ended as done or failed
 *   b         bytes received
 *   s200      answers by HTTP status
 *   fTIMEOUT  failed requests by reason · rTIMEOUT  retries by reason
 *   m, a      sum of the latencies in ms, and how many there were
 *   l12       latencies of up to 2^(12/2) ms that are longer than those before
 */
import type { Effects, Outcome } from '../types/leases.js';
import type { DomainCounts } from '../types/telemetry.js';

/** Stands for the domains that a report does not name. No domain has this name. */
export const OTHER_DOMAINS = '';

/** A latency of 2^(n/2) ms belongs to the bucket n: each is 41 % longer than the one before. */
const BUCKETS_PER_DOUBLING = 2;
const MOST_BUCKETS = 40;

export type MutableCounts = Record<string, number>;

/** What is known of a domain's answers. */
export interface DomainStats {
  readonly pages: number;
  readonly bytes: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
  readonly retries: Readonly<Record<string, number>>;
  /** Null without an answer. `p95Ms` is the upper end of its bucket, at most 41 % too high. */
  readonly latency: { readonly meanMs: number; readonly p95Ms: number } | null;
}

/** Count a committed page. */
export function countPage(counts: MutableCounts, outcome: Outcome, { stats, latencyMs }: Effects): void {
  const { kind, reason } = outcome;
  if (kind === 'released') return;
  if (kind !== 'retry') add(counts, 'p', 1);
  if (outcome.status !== undefined) add(counts, `s${outcome.status}`, 1);
  if (kind === 'failed') add(counts, `f${reason}`, 1);
  if (kind === 'retry') add(counts, `r${reason}`, 1);
  const bytes = stats['downloader/response_bytes'];
  if (bytes !== undefined) add(counts, 'b', bytes);
  if (latencyMs === undefined) return;
  add(counts, 'm', Math.round(latencyMs));
  add(counts, 'a', 1);
  add(counts, `l${bucketOf(latencyMs)}`, 1);
}

/** Add amounts to others. */
export function addCounts(counts: MutableCounts, more: DomainCounts): void {
  for (const name in more) add(counts, name, more[name]!);
}

export function hasFailures(counts: DomainCounts): boolean {
  return Object.keys(counts).some((name) => name.startsWith('f') || name.startsWith('r'));
}

export function domainStats(counts: DomainCounts): DomainStats {
  const { p: pages = 0, b: bytes = 0, m: sumMs = 0, a: answers = 0 } = counts;
  return {
    ...{ pages, bytes },
    statuses: named(counts, /^s(\d+)$/),
    failures: named(counts, /^f(.+)$/),
    retries: named(counts, /^r(.+)$/),
    latency: answers === 0 ? null : { meanMs: Math.round(sumMs / answers), p95Ms: p95(counts, answers) },
  };
}

function add(counts: MutableCounts, name: string, amount: number): void {
  counts[name] = (counts[name] ?? 0) + amount;
}

function bucketOf(ms: number): number {
  return Math.min(MOST_BUCKETS, Math.max(0, Math.ceil(Math.log2(ms) * BUCKETS_PER_DOUBLING)));
}

function named(counts: DomainCounts, pattern: RegExp): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => {
      const short = pattern.exec(name)?.[1];
      return short === undefined ? [] : [[short, count]];
    }),
  );
}

function p95(counts: DomainCounts, answers: number): number {
  let left = answers * 0.95;
  for (let bucket = 0; bucket <= MOST_BUCKETS; bucket++) {
    left -= counts[`l${bucket}`] ?? 0;
    if (left <= 0) return Math.round(2 ** (bucket / BUCKETS_PER_DOUBLING));
  }
  return Math.round(2 ** (MOST_BUCKETS / BUCKETS_PER_DOUBLING));
}
