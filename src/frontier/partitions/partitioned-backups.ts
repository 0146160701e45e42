/**
 * Backups of a crawl over several partitions. Each entry names its partition. Into as many partitions it is restored as it
 * was. Into another number the requests go to the partitions of their domains, and fingerprints, whose domains nobody knows,
 * to every partition.
 */

import { STAT_PREFIX } from '../../stats/stat-change.js';
import type { BackupEntry, Backups } from '../backup/entry.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import { mergeStats, storedName } from './pages/custom-stats.js';
import { byPartition } from './partition-of.js';

export function partitionedBackups(parts: readonly RedisFrontier[]): Backups {
  const count = parts.length;
  return {
    async *read(wanted) {
      for (const [index, { backups }] of parts.entries()) {
        for await (const entry of backups.read(wanted)) {
          if (entry.kind === 'stats') yield* countersOf(entry, { index, count });
          else yield { ...asPart(entry, index), partition: { index, count } };
        }
      }
      if (wanted.includes('stats')) yield* await customStats(parts);
    },

    async begin(ticket) {
      const begun: (number | null)[] = [];
      for (const { backups } of parts) begun.push(await backups.begin(ticket));
      const counts = begun.filter((entries) => entries !== null);
      // A partition that the backup had nothing for is not known to be whole.
      return counts.length === 0 ? null : Math.min(...counts);
    },

    async apply(id, number, entry) {
      const targets = targetsOf(entry, count);
      await Promise.all(targets.map(([index, own]) => parts[index]!.backups.apply(id, number, own)));
    },

    async end(id) {
      for (const { backups } of parts.toReversed()) await backups.end(id);
    },
  };
}

/** Where an entry goes, and what of it. */
function targetsOf(entry: BackupEntry, count: number): (readonly [index: number, entry: BackupEntry])[] {
  const { partition } = entry;
  const isSame = partition?.count === count;
  if (entry.kind === 'stats') return [[isSame ? partition.index : 0, withKinds(entry)]];
  if (isSame) return [[partition.index, entry]];
  switch (entry.kind) {
    case 'requests':
      return byPartition(entry.values, count)
        .map((values, index) => [index, { ...entry, values }] as const)
        .filter(([, { values }]) => values.length > 0);
    case 'dupefilter':
    case 'seen':
    case 'bits':
      return Array.from({ length: count }, (_, index) => [index, entry]);
    case 'feed':
      // Those of other partitions have neither a file nor a checkpoint.
      return (partition?.index ?? 0) === 0 ? [[0, entry]] : [];
    default:
      return [[0, entry]];
  }
}

/** As one value each, since what is restored may have another number of partitions. */
async function customStats(parts: readonly RedisFrontier[]): Promise<BackupEntry[]> {
  const snapshots = await Promise.all(parts.map((part) => part.snapshot()));
  const values = Object.entries(mergeStats(snapshots.map(({ custom }) => custom)));
  if (values.length === 0) return [];
  return [{ kind: 'stats', values: values.map(([name, value]) => [`${STAT_PREFIX}${name}`, value]) }];
}

/** The start requests are counted in partition 0. */
function asPart(entry: BackupEntry, index: number): BackupEntry {
  if (entry.kind !== 'crawl' || index === 0) return entry;
  const { starts: _, ...rest } = entry;
  return { ...rest, start: 0 };
}

function countersOf(
  entry: Extract<BackupEntry, { kind: 'stats' }>,
  partition: { readonly index: number; readonly count: number },
): BackupEntry[] {
  const values = entry.values.filter(([name]) => !name.startsWith(STAT_PREFIX));
  return values.length === 0 ? [] : [{ ...entry, values, partition }];
}

function withKinds(entry: Extract<BackupEntry, { kind: 'stats' }>): BackupEntry {
  const values = entry.values.map(([name, value]) => {
    if (!name.startsWith(STAT_PREFIX)) return [name, value] as const;
    return [`${STAT_PREFIX}${storedName('set', name.slice(STAT_PREFIX.length))}`, value] as const;
  });
  return { ...entry, values };
}
