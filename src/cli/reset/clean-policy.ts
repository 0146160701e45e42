/**
 * Decides whether a crawl is due for a reset: `--older-than` or `--if-larger-than`. One match is enough. Of all crawls of a store,
 * those that nobody uses are looked for, so there the age counts from the last use.
 */

import { n } from '../../format-amounts.js';
import type { Part, Snapshot } from '../../frontier/frontier.js';
import { inWords } from '../options/duration.js';

/** At least one is given. */
export interface CleanPolicy {
  readonly olderThanMs?: number | undefined;
  /** Whether the age counts from the last use, not from the beginning. */
  readonly isUnused?: boolean;
  /** Fingerprints in the dupefilter. */
  readonly largerThan?: number | undefined;
}

export interface Verdict {
  readonly isDue: boolean;
  /** The measured values and their limits. */
  readonly why: string;
}

export function evaluatePolicy(
  { olderThanMs, isUnused, largerThan }: CleanPolicy,
  snapshot: Pick<Snapshot, 'seen' | 'beganAtMs' | 'seenSinceMs' | 'usedAtMs'>,
  parts: readonly Part[],
  nowMs: number,
): Verdict {
  const reasons: string[] = [];
  let isDue = false;
  if (olderThanMs !== undefined) {
    const since = isUnused ? lastUse(snapshot) : oldestRecord(snapshot, parts);
    const ageMs = since === null ? 0 : nowMs - since.atMs;
    isDue ||= since !== null && ageMs > olderThanMs;
    reasons.push(
      since === null
        ? 'the crawl has not begun'
        : `${since.what} ${inWords(ageMs)} ago (limit ${inWords(olderThanMs)})`,
    );
  }
  if (largerThan !== undefined) {
    isDue ||= snapshot.seen > largerThan;
    reasons.push(`the dupefilter holds ${n(snapshot.seen)} fingerprints (limit ${n(largerThan)})`);
  }
  return { isDue, why: reasons.join(', ') };
}

interface Since {
  readonly atMs: number;
  readonly what: string;
}

function lastUse({ usedAtMs }: Pick<Snapshot, 'usedAtMs'>): Since | null {
  return usedAtMs === null ? null : { atMs: usedAtMs, what: 'the crawl was last used' };
}

/** The oldest part that would be deleted. After a reset of the dupefilter alone, its age starts again. */
function oldestRecord(
  { beganAtMs, seenSinceMs }: Pick<Snapshot, 'beganAtMs' | 'seenSinceMs'>,
  parts: readonly Part[],
): Since | null {
  const crawl = beganAtMs === null ? null : { atMs: beganAtMs, what: 'the crawl began' };
  if (!parts.includes('dupefilter') || seenSinceMs === null) return crawl;
  const dupefilter = { atMs: seenSinceMs, what: 'its dupefilter began' };
  if (crawl === null || !parts.includes('queue')) return dupefilter;
  return dupefilter.atMs < crawl.atMs ? dupefilter : crawl;
}
