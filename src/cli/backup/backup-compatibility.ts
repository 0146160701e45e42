/** Checks that a backup fits the crawl it is restored into: queue order, fingerprints and dupefilter. */
import { RefusedError } from '../../errors.js';
import { classOf } from '../../frontier/dupefilter-classes.js';
import type { Dupefilter, Part, Shape } from '../../frontier/frontier.js';
import { dupefilterInWords, shapeDifferences } from '../../frontier/shared-settings/shape-differences.js';
import type { VerifiedBackup } from './read-backup.js';

/** @returns notices for the user. @throws RefusedError when the backup cannot be used with these settings. */
export function refuseIncompatible(
  { shape, bloomEngine }: VerifiedBackup,
  parts: readonly Part[],
  ours: Shape,
  engine: string,
): string[] {
  const { fingerprinter, queueClass, domainKey } = shape;
  const identity = parts.some((part) => ['queue', 'failed', 'dupefilter'].includes(part))
    ? shapeDifferences({ fingerprinter }, ours)
    : [];
  const order = parts.includes('queue') ? shapeDifferences({ queueClass, domainKey }, ours) : [];
  if (identity.length + order.length > 0) {
    throw new RefusedError(
      `the backup is of a crawl with other settings: ${[...identity, ...order].join('; ')}. Use the settings of the backup`,
      { code: 'shape' },
    );
  }
  return parts.includes('dupefilter')
    ? refuseIncompatibleDupefilter(shape.dupefilter, ours.dupefilter, bloomEngine, engine)
    : [];
}

function refuseIncompatibleDupefilter(
  theirs: Dupefilter,
  ours: Dupefilter,
  bloomEngine: string | null,
  engine: string,
): string[] {
  const [there, here] = [dupefilterInWords(theirs), dupefilterInWords(ours)];
  const instead = 'use the same settings, or bring back the other parts with --only';
  if (bloomEngine !== null && bloomEngine !== engine) {
    throw new RefusedError(
      `the BloomDupeFilter of a backup of the ${bloomEngine} engine cannot be restored on the ${engine} engine: restore it there, or restore the other parts with --only`,
      { code: 'dupefilter' },
    );
  }
  if (there === here) return [];
  if (!classOf(theirs).isExact) {
    throw new RefusedError(
      `the backup is of a ${there}, which does not store complete fingerprints, and the crawl has a ${here}: ${instead}`,
      { code: 'dupefilter' },
    );
  }
  return [`the fingerprints of a ${there} go into a ${here}`];
}
