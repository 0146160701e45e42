/** The keys that the settings name, as the spaces of the file that stand for them. */
import type { FrontierKeys } from '../../store.js';
import type { Statements } from '../file/statements.js';

/** What is kept under one key; looked up when it is first asked for. */
export class Space {
  readonly name: string;
  readonly #sql: Statements;
  #row: { id: number; entries: number } | null = null;
  #writtenEntries = 0;

  constructor(sql: Statements, name: string) {
    this.#sql = sql;
    this.name = name;
  }

  /** 0 while nothing is kept under the key, so that whoever reads finds no row. */
  get id(): number {
    return this.#found().id;
  }

  /** How many rows of a list it holds; changed in place, and written at the end of the transaction. */
  get entries(): number {
    return this.#found().entries;
  }

  set entries(entries: number) {
    this.#found().entries = entries;
  }

  /** Its id; it gets one if it has none. */
  need(): number {
    const row = this.#found();
    if (row.id === 0) row.id = this.#sql.insert`INSERT INTO space (name) VALUES (${this.name})`;
    return row.id;
  }

  /** Clear it in one small step: what it held is garbage from now on (`clear/sweep.ts`), and the key holds nothing. */
  clear(): void {
    const { id } = this.#found();
    if (id === 0) return;
    this.#sql.run`UPDATE space SET name = NULL, is_crawl = 0 WHERE id = ${id}`;
    this.#row = { id: 0, entries: 0 };
    this.#writtenEntries = 0;
  }

  /** Write the number of entries if it has changed. */
  finish(): void {
    if (this.#row === null || this.#row.entries === this.#writtenEntries) return;
    this.#sql.run`UPDATE space SET entries = ${this.#row.entries} WHERE id = ${this.need()}`;
    this.#writtenEntries = this.#row.entries;
  }

  #found(): { id: number; entries: number } {
    if (this.#row === null) {
      this.#row = this.#sql.get`SELECT id, entries FROM space WHERE name = ${this.name}` ?? {
        id: 0,
        entries: 0,
      };
      this.#writtenEntries = this.#row.entries;
    }
    return this.#row;
  }
}

/** The spaces of one crawl, within one transaction. */
export class Spaces {
  readonly crawl: Space;
  readonly dupefilter: Space;
  readonly items: Space;
  readonly stats: Space;
  /** Feeds outlive the requests, and so have a space of their own. */
  readonly feeds: Space;
  readonly startUrls: readonly { readonly good: Space; readonly bad: Space }[];
  readonly #sql: Statements;

  constructor(sql: Statements, keys: FrontierKeys) {
    this.#sql = sql;
    this.crawl = new Space(sql, keys.requests);
    this.dupefilter = new Space(sql, keys.dupefilter);
    this.items = new Space(sql, keys.items);
    this.stats = new Space(sql, keys.stats);
    this.feeds = new Space(sql, `${keys.requests}:~feeds`);
    this.startUrls = keys.startUrls.map((name) => ({
      good: new Space(sql, name),
      bad: new Space(sql, `${name}:bad`),
    }));
  }

  /** Those that hold lists, by the number of their entries. */
  get lists(): readonly Space[] {
    return [this.items, this.stats, ...this.startUrls.flatMap(({ good, bad }) => [good, bad])];
  }

  /** Have the crawl listed among those of the folder. */
  list(): void {
    this.#sql.run`UPDATE space SET is_crawl = 1 WHERE id = ${this.crawl.need()} AND is_crawl = 0`;
  }

  finish(): void {
    for (const space of this.lists) space.finish();
  }
}
