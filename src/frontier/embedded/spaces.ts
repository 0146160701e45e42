/** The keys that the settings name, as the spaces of the file that stand for them. */
import type { FrontierKeys } from '../open.js';
import type { Value } from './sqlite.js';
import type { Statements } from './statements.js';

/** What is kept under one key. */
export interface Space {
  readonly name: string;
  /** 0 while nothing is kept under it, so that whoever reads finds no row. */
  id: number;
  /** How many rows of a list it holds; changed in place, and written at the end of the transaction. */
  entries: number;
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
  readonly #all = new Map<string, Space>();
  readonly #written = new Map<Space, number>();

  constructor(sql: Statements, keys: FrontierKeys) {
    this.#sql = sql;
    this.crawl = this.#space(keys.requests);
    this.dupefilter = this.#space(keys.dupefilter);
    this.items = this.#space(keys.items);
    this.stats = this.#space(keys.stats);
    this.feeds = this.#space(`${keys.requests}:~feeds`);
    this.startUrls = keys.startUrls.map((name) => ({
      good: this.#space(name),
      bad: this.#space(`${name}:bad`),
    }));
    this.#find();
  }

  /** The space's id; it gets one if it has none. */
  need(space: Space): number {
    if (space.id === 0) space.id = this.#sql.insert`INSERT INTO space (name) VALUES (${space.name})`;
    return space.id;
  }

  /** Have the crawl listed among those of the folder. */
  list(): void {
    const id = this.need(this.crawl);
    this.#sql.run`UPDATE space SET is_crawl = 1 WHERE id = ${id} AND is_crawl = 0`;
  }

  /** Clear a space in one small step: what it held is garbage from now on (`sweep.ts`), and the key holds nothing. */
  clear(space: Space): void {
    if (space.id === 0) return;
    this.#sql.run`UPDATE space SET name = NULL, is_crawl = 0 WHERE id = ${space.id}`;
    space.id = 0;
    space.entries = 0;
    this.#written.set(space, 0);
  }

  /** Write the numbers of entries that have changed. */
  finish(): void {
    for (const space of this.#all.values()) {
      if (space.entries === this.#written.get(space)) continue;
      const id = this.need(space);
      this.#sql.run`UPDATE space SET entries = ${space.entries} WHERE id = ${id}`;
      this.#written.set(space, space.entries);
    }
  }

  #space(name: string): Space {
    let space = this.#all.get(name);
    if (space === undefined) {
      space = { name, id: 0, entries: 0 };
      this.#all.set(name, space);
      this.#written.set(space, 0);
    }
    return space;
  }

  #find(): void {
    const names = [...this.#all.keys()];
    const text = `SELECT name, id, entries FROM space WHERE name IN (${names.map(() => '?').join(', ')})`;
    const rows = this.#sql.of(text, (it) => it.setReturnArrays(true)).all(...names) as Value[][];
    for (const [name, id, entries] of rows) {
      const space = this.#all.get(name as string);
      if (space === undefined) continue;
      space.id = id as number;
      space.entries = entries as number;
      this.#written.set(space, space.entries);
    }
  }
}
