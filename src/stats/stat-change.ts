/**
 * Stats of the user's own code (`spider.stats`): what they may hold, and what a change makes of them. They stand beside the
 * counters of the crawl, under a prefix, so that no name of a spider can change a counter that crawlnode itself reads.
 */

/** A number or a text. */
export type StatValue = number | string;

/** A change of one stat. `inc` adds a number, `max` and `min` keep the larger or smaller one, `set` replaces the value. */
export interface StatChange {
  readonly name: string;
  readonly op: 'inc' | 'set' | 'max' | 'min';
  readonly value: StatValue;
}

/** What stands before their names in the store. */
export const STAT_PREFIX = 'custom/';

export const MAX_STAT_NAME_CHARS = 200;
export const MAX_STAT_TEXT_CHARS = 1_000;
/** Changes of one page. */
export const MAX_STAT_CHANGES = 1_000;
/** Names of counters and stats in the store. Further stats are dropped and counted as `DROPPED_STATS`. */
export const MAX_STAT_NAMES = 10_000;
/** The counter of stats that were dropped. */
export const DROPPED_STATS = 'custom_stats/dropped';

/**
 * The value after a change. A text counts as no number, so `inc`, `max` and `min` begin anew with theirs.
 * @param before undefined where the stat does not exist yet.
 */
export function changedStat(
  before: StatValue | undefined,
  { op, value }: Omit<StatChange, 'name'>,
): StatValue {
  if (op === 'set' || typeof value === 'string' || typeof before !== 'number') return value;
  if (op === 'max') return Math.max(before, value);
  if (op === 'min') return Math.min(before, value);
  const sum = before + value;
  return Number.isFinite(sum) ? sum : before;
}

/** The changes that a store accepts: names and texts of bounded length, finite numbers. */
export function boundedChanges(changes: readonly StatChange[]): StatChange[] {
  return changes
    .filter(({ op, value }) => (typeof value === 'number' ? Number.isFinite(value) : op === 'set'))
    .slice(0, MAX_STAT_CHANGES)
    .map(({ name, op, value }) => ({
      name: name.slice(0, MAX_STAT_NAME_CHARS),
      op,
      value: typeof value === 'number' ? value + 0 : value.slice(0, MAX_STAT_TEXT_CHARS),
    }));
}

/** The counters and the user's own stats of a store, which keeps both in one place. */
export function splitStats(all: Iterable<readonly [name: string, value: StatValue]>): {
  readonly counters: Record<string, number>;
  readonly custom: Record<string, StatValue>;
} {
  const entries = [...all];
  const isCustom = (name: string) => name.startsWith(STAT_PREFIX);
  // Not by assignment: `__proto__` is a name like any other.
  return {
    counters: Object.fromEntries(
      entries.filter(([name]) => !isCustom(name)).map(([name, value]) => [name, Number(value)]),
    ),
    custom: Object.fromEntries(
      entries
        .filter(([name]) => isCustom(name))
        .map(([name, value]) => [name.slice(STAT_PREFIX.length), value]),
    ),
  };
}
