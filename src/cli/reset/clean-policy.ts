/** Whether a crawl is due to be cleaned: `--older-than` and `--if-larger-than`, either of which is enough. */
import type { Part, Snapshot } from '../../frontier/frontier.js';
import { inWords } from '../options/duration.js';
import { n } from '../terminal/format-values.js';

export interface CleanPolicy {
  readonly olderThanMs?: number;
  /** Fingerprints in the dupefilter. */
  readonly largerThan?: number;
}

export interface Verdict {
  readonly isDue: boolean;
  /** What was found, beside what was asked. */
  readonly why: string;
}

/** @returns null where nothing was asked. */
export function evaluatePolicy(
  { olderThanMs, largerThan }: CleanPolicy,
  snapshot: Pick<Snapshot, 'seen' | 'beganAtMs' | 'seenSinceMs'>,
  parts: readonly Part[],
  nowMs: number,
): Verdict | null {
  if (olderThanMs === undefined && largerThan === undefined) return null;
  const reasons: string[] = [];
  let isDue = false;
  if (olderThanMs !== undefined) {
    const since = oldestRecord(snapshot, parts);
    const ageMs = since === null ? 0 : nowMs - since.atMs;
    isDue ||= since !== null && ageMs > olderThanMs;
    reasons.push(
      since === null
        ? 'the crawl has not begun'
        : `${since.what} began ${inWords(ageMs)} ago (limit ${inWords(olderThanMs)})`,
    );
  }
  if (largerThan !== undefined) {
    isDue ||= snapshot.seen > largerThan;
    reasons.push(`the dupefilter holds ${n(snapshot.seen)} fingerprints (limit ${n(largerThan)})`);
  }
  return { isDue, why: reasons.join(', ') };
}

/** The age is that of the oldest records among those that would go, so that what was cleaned alone is young again. */
function oldestRecord(
  { beganAtMs, seenSinceMs }: Pick<Snapshot, 'beganAtMs' | 'seenSinceMs'>,
  parts: readonly Part[],
): { atMs: number; what: string } | null {
  const crawl = beganAtMs === null ? null : { atMs: beganAtMs, what: 'the crawl' };
  if (!parts.includes('dupefilter') || seenSinceMs === null) return crawl;
  const dupefilter = { atMs: seenSinceMs, what: 'its dupefilter' };
  if (crawl === null || !parts.includes('queue')) return dupefilter;
  return dupefilter.atMs < crawl.atMs ? dupefilter : crawl;
}
