/**
 * Stats of the user's own code over partitions. A change is committed with its page, in the partition of the page, under a
 * name for its kind; what a reader sees is computed from all of them. A value that was set is in partition 0, since of
 * values in two partitions nobody knows the later one.
 *
 * The value is the one that was set, plus all that was added, then the larger or smaller of it and the extremes.
 */
import { changedStat, type StatChange, type StatValue } from '../../../stats/stat-change.js';

const kinds = ['set', 'inc', 'max', 'min'] as const;

/** The changes as the partitions store them: those of partition 0, and those of the page's partition. */
export function splitChanges(changes: readonly StatChange[]): { set: StatChange[]; counted: StatChange[] } {
  const stored = changes.map((change) => ({ ...change, name: storedName(change.op, change.name) }));
  return { set: stored.filter(({ op }) => op === 'set'), counted: stored.filter(({ op }) => op !== 'set') };
}

/** What the partitions hold, as one. */
export function mergeStats(
  partitions: readonly Readonly<Record<string, StatValue>>[],
): Record<string, StatValue> {
  const merged = new Map<string, StatValue>();
  for (const op of kinds) {
    for (const [stored, value] of partitions.flatMap((stats) => Object.entries(stats))) {
      if (!stored.startsWith(`${op}:`)) continue;
      const name = stored.slice(op.length + 1);
      merged.set(name, changedStat(merged.get(name), { op, value }));
    }
  }
  return Object.fromEntries(merged);
}

export function storedName(op: StatChange['op'], name: string): string {
  return `${op}:${name}`;
}
