/**
 * Backups of a crawl over several partitions. Each entry names its partition. Into as many partitions it is restored as it
 * was. Into another number the requests go to the partitions of their domains, and fingerprints, whose domains nobody knows,
 * to every partition.
 */

import { STAT_PREFIX } from '../../stats/stat-change.js';
import type { BackupEntry, Backups, RestoreTicket } from '../backup/entry.js';
import type { Part } from '../frontier.js';
import type { RedisFrontier } from '../redis/redis-frontier.js';
import { mergeStats, storedName } from './pages/custom-stats.js';
import { byPartition } from './partition-of.js';

export class PartitionedBackups implements Backups {
  readonly #parts: readonly RedisFrontier[];

  constructor(parts: readonly RedisFrontier[]) {
    this.#parts = parts;
  }

  async *read(parts: readonly Part[]): AsyncIterable<BackupEntry> {
    const count = this.#parts.length;
    for (const [index, { backups }] of this.#parts.entries()) {
      for await (const entry of backups.read(parts)) {
        if (entry.kind === 'stats') yield* countersOf(entry, { index, count });
        else yield { ...asPart(entry, index), partition: { index, count } };
      }
    }
    if (parts.includes('stats')) yield* await this.#customStats();
  }

  async begin(ticket: RestoreTicket): Promise<number | null> {
    const begun: (number | null)[] = [];
    for (const { backups } of this.#parts) begun.push(await backups.begin(ticket));
    const counts = begun.filter((entries) => entries !== null);
    // A partition that the backup had nothing for is not known to be whole.
    return counts.length === 0 ? null : Math.min(...counts);
  }

  async apply(id: string, number: number, entry: BackupEntry): Promise<void> {
    await Promise.all(
      this.#targets(entry).map(([index, own]) => this.#parts[index]!.backups.apply(id, number, own)),
    );
  }

  async end(id: string): Promise<void> {
    for (const { backups } of this.#parts.toReversed()) await backups.end(id);
  }

  /** Where an entry goes, and what of it. */
  #targets(entry: BackupEntry): (readonly [index: number, entry: BackupEntry])[] {
    const count = this.#parts.length;
    const { partition } = entry;
    if (entry.kind === 'stats') return [[partition?.count === count ? partition.index : 0, withKinds(entry)]];
    if (partition?.count === count) return [[partition.index, entry]];
    switch (entry.kind) {
      case 'requests':
        return byPartition(entry.values, ({ domain }) => domain, count)
          .map((values, index) => [index, { ...entry, values }] as const)
          .filter(([, { values }]) => values.length > 0);
      case 'dupefilter':
      case 'seen':
      case 'bits':
        return this.#parts.map((_, index) => [index, entry]);
      case 'feed':
        // Those of other partitions have neither a file nor a checkpoint.
        return (partition?.index ?? 0) === 0 ? [[0, entry]] : [];
      default:
        return [[0, entry]];
    }
  }

  /** As one value each, since what is restored may have another number of partitions. */
  async #customStats(): Promise<BackupEntry[]> {
    const snapshots = await Promise.all(this.#parts.map((part) => part.snapshot()));
    const values = Object.entries(mergeStats(snapshots.map(({ custom }) => custom)));
    if (values.length === 0) return [];
    return [{ kind: 'stats', values: values.map(([name, value]) => [`${STAT_PREFIX}${name}`, value]) }];
  }
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
