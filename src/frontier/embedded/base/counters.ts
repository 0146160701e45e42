/**
 * Statistics of a crawl, by Scrapy's names: summed up within a transaction, and added to their rows at its end. The stats of
 * the user's own code stand beside them, with a prefix.
 */
import {
  boundedChanges,
  changedStat,
  DROPPED_STATS,
  MAX_STAT_NAMES,
  STAT_PREFIX,
  type StatChange,
  type StatValue,
} from '../../../stats/stat-change.js';
import { countersInBounds } from '../../clamp-values.js';
import { plainText } from '../file/statements.js';
import type { OpenCrawl } from './open-crawl.js';

export class Counters {
  readonly #crawl: OpenCrawl;
  /** Added to counters; whole numbers. */
  readonly #added = new Map<string, bigint>();
  /** Stats of the user's own that have changed, with their prefix. */
  readonly #changed = new Map<string, StatValue>();

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** Add to counters by name. */
  add(counters: Readonly<Record<string, number>>): void {
    for (const [name, added] of countersInBounds(counters)) {
      const row = plainText(name);
      this.#added.set(row, (this.#added.get(row) ?? 0n) + BigInt(added));
    }
  }

  /** Change stats of the user's own. */
  change(changes: readonly StatChange[]): void {
    for (const { name, ...change } of boundedChanges(changes)) {
      const row = plainText(`${STAT_PREFIX}${name}`);
      const before = this.#changed.get(row) ?? this.#read(row);
      if (before === undefined && this.#isFull()) this.add({ [DROPPED_STATS]: 1 });
      else this.#changed.set(row, changedStat(before, change));
    }
  }

  /** Bring back what a backup holds: counters add up, and a stat of the user's own that is there stays. */
  restore(values: readonly (readonly [name: string, value: StatValue])[]): void {
    for (const [name, value] of values) {
      if (!name.startsWith(STAT_PREFIX)) this.add({ [name]: Number(value) });
      else if (this.#read(plainText(name)) === undefined) this.#changed.set(plainText(name), value);
    }
  }

  /** All of them, with their prefix. */
  all(): [name: string, value: StatValue][] {
    const { sql, spaces } = this.#crawl;
    const rows = sql.all<{ name: string; value: StatValue }>`
      SELECT name, value FROM counter WHERE space = ${spaces.stats.id}`;
    return rows.map(({ name, value }) => [name, value]);
  }

  finish(): void {
    const { sql, spaces } = this.#crawl;
    const { id } = spaces.stats;
    for (const [name, added] of this.#added) {
      const isThere =
        sql.run`UPDATE counter SET value = value + ${added} WHERE space = ${id} AND name = ${name}` > 0;
      if (!isThere) this.#insert(name, added);
    }
    for (const [name, changed] of this.#changed) {
      const value = typeof changed === 'string' ? plainText(changed) : changed;
      const isThere = sql.run`UPDATE counter SET value = ${value} WHERE space = ${id} AND name = ${name}` > 0;
      if (!isThere) this.#insert(name, value);
    }
    this.#added.clear();
    this.#changed.clear();
  }

  #insert(name: string, value: StatValue | bigint): void {
    const { sql, spaces } = this.#crawl;
    sql.run`INSERT INTO counter (space, name, value) VALUES (${spaces.stats.need()}, ${name}, ${value})`;
    spaces.stats.entries += 1;
  }

  #isFull(): boolean {
    return this.#crawl.spaces.stats.entries >= MAX_STAT_NAMES;
  }

  #read(name: string): StatValue | undefined {
    const { sql, spaces } = this.#crawl;
    return sql.get<{ value: StatValue }>`
      SELECT value FROM counter WHERE space = ${spaces.stats.id} AND name = ${name}`?.value;
  }
}
