/** Statistics of a crawl, by Scrapy's names: summed up within a transaction, and added to their rows at its end. */
import { countersInBounds } from '../../clamp-values.js';
import { plainText } from '../file/statements.js';
import type { OpenCrawl } from './open-crawl.js';

export class Counters {
  readonly #crawl: OpenCrawl;
  readonly #added = new Map<string, number>();

  constructor(crawl: OpenCrawl) {
    this.#crawl = crawl;
  }

  /** Add to counters by name. */
  add(counters: Readonly<Record<string, number>>): void {
    for (const [name, added] of countersInBounds(counters)) {
      this.#added.set(name, (this.#added.get(name) ?? 0) + added);
    }
  }

  /** All of them. */
  read(): Record<string, number> {
    const { sql, spaces } = this.#crawl;
    const rows = sql.all<{ name: string; value: number }>`
      SELECT name, value FROM counter WHERE space = ${spaces.stats.id}`;
    // Not by assignment: `__proto__` is a name like any other.
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  }

  finish(): void {
    if (this.#added.size === 0) return;
    const { sql, spaces } = this.#crawl;
    const space = spaces.stats.need();
    for (const [name, added] of this.#added) {
      const before = sql.run`UPDATE counter SET value = value + ${added} WHERE space = ${space} AND name = ${plainText(name)}`;
      if (before > 0) continue;
      sql.run`INSERT INTO counter (space, name, value) VALUES (${space}, ${plainText(name)}, ${added})`;
      spaces.stats.entries += 1;
    }
    this.#added.clear();
  }
}
