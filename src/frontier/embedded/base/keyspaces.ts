/** Spaces: the rows of the file that belong to one key of the settings. Each key has one space, with a numeric id. */
import type { FrontierKeys } from '../../open-options.js';
import { ContradictingRows } from '../file/sqlite-errors.js';
import type { Statements } from '../file/statements.js';
import { namelessSpaceOf } from './nameless-spaces.js';

/** The space of one key. Its row is read on first use. */
export class Space {
  readonly name: string;
  /** Those with its rows, by which its id is found again when somebody has deleted its own row. */
  readonly tables: readonly string[];
  readonly #sql: Statements;
  #row: { id: number; entries: number } | null = null;
  #writtenEntries = 0;

  constructor(sql: Statements, name: string, ...tables: readonly string[]) {
    this.#sql = sql;
    this.name = name;
    this.tables = tables;
  }

  /** Where the entries of its list are. */
  get table(): string {
    return this.tables[0]!;
  }

  /** 0 while the key has no space; no row has this id, so a query finds nothing. */
  get id(): number {
    return this.#readRow().id;
  }

  /** The number of list entries. It is changed in place and written at the end of the transaction. */
  get entries(): number {
    return this.#readRow().entries;
  }

  set entries(entries: number) {
    this.#readRow().entries = entries;
  }

  /** The id; the space is created if it does not exist. @throws ContradictingRows where its rows are there without its name */
  need(): number {
    const row = this.#readRow();
    if (row.id > 0) return row.id;
    if (namelessSpaceOf(this.#sql, this) !== null)
      throw new ContradictingRows(`the name of ${this.name} is gone`);
    row.id = this.#sql.insert`INSERT INTO space (name) VALUES (${this.name})`;
    return row.id;
  }

  /** Clear the key in one small step. Its space loses its name, and the rows are deleted later (`crawl/sweep.ts`). */
  clear(): void {
    const { id } = this.#readRow();
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

  #readRow(): { id: number; entries: number } {
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
  readonly sharesDupefilter: boolean;
  readonly items: Space;
  readonly stats: Space;
  /** Feeds have their own space, since they outlive the requests. */
  readonly feeds: Space;
  /** What nodes report, which outlives the requests too. */
  readonly telemetry: Space;
  readonly startUrls: readonly { readonly good: Space; readonly bad: Space }[];
  readonly #sql: Statements;

  constructor(sql: Statements, keys: FrontierKeys) {
    this.#sql = sql;
    this.crawl = new Space(sql, keys.requests);
    this.dupefilter = new Space(
      sql,
      keys.dupefilter,
      ...['dupefilter', 'seen', 'seen_timed', 'seen_state', 'seen_compact', 'seen_bloom'],
    );
    this.sharesDupefilter = keys.sharesDupefilter === true;
    this.items = new Space(sql, keys.items, 'item');
    this.stats = new Space(sql, keys.stats, 'counter');
    this.feeds = new Space(sql, `${keys.requests}:~feeds`, 'feed', 'outbox');
    this.telemetry = new Space(sql, `${keys.requests}:~telemetry`, 'telemetry', 'domain_stats');
    this.startUrls = keys.startUrls.map((name) => ({
      good: new Space(sql, name, 'seed'),
      bad: new Space(sql, `${name}:bad`, 'bad_seed'),
    }));
  }

  /** All but that of the crawl. */
  get others(): readonly Space[] {
    return [this.dupefilter, this.feeds, this.telemetry, ...this.lists];
  }

  /** The spaces that hold lists and count their entries. */
  get lists(): readonly Space[] {
    return [this.items, this.stats, ...this.startUrls.flatMap(({ good, bad }) => [good, bad])];
  }

  /** Add the crawl to the list of crawls in the folder. */
  list(): void {
    this.#sql.run`UPDATE space SET is_crawl = 1 WHERE id = ${this.crawl.need()} AND is_crawl = 0`;
  }

  finish(): void {
    for (const space of this.lists) space.finish();
  }
}
