/** Raw entries of the store inside one transaction: single keys, ranges in order, and wiping whole tables. */
import type { Database } from 'lmdb';
import { after, keyOf, nothing, type Table } from './keys.js';

export type Store = Database<Buffer, Buffer>;

export class Tables {
  /** Any write at all, so that a verb that fails half-way is told from one that refused before it wrote. */
  writes = 0;
  readonly #db: Store;

  constructor(db: Store) {
    this.#db = db;
  }

  get(key: Buffer): Buffer | undefined {
    return this.#db.get(key);
  }

  has(key: Buffer): boolean {
    return this.#db.doesExist(key);
  }

  put(key: Buffer, value: Buffer = nothing): void {
    this.writes += 1;
    this.#db.putSync(key, value);
  }

  delete(key: Buffer): void {
    this.writes += 1;
    this.#db.removeSync(key);
  }

  /** The first key at or after `start` that begins with `prefix`. */
  first(prefix: Buffer, start: Buffer = prefix): Buffer | undefined {
    return this.keys(prefix, 1, start)[0];
  }

  /** Up to `max` keys that begin with `prefix`, in order; read at once, so that writes may follow. */
  keys(prefix: Buffer, max: number, start: Buffer = prefix): Buffer[] {
    return [...this.#db.getKeys({ start, end: after(prefix), limit: max })];
  }

  /** Up to `max` entries that begin with `prefix`, in order; read at once, so that writes may follow. */
  entries(prefix: Buffer, max: number, start: Buffer = prefix): { key: Buffer; value: Buffer }[] {
    return [...this.#db.getRange({ start, end: after(prefix), limit: max })];
  }

  /** All entries of a table and space, lazily; not to be mixed with writes. */
  scan(table: Table, space: Buffer): Iterable<{ key: Buffer; value: Buffer }> {
    const prefix = keyOf(table, space);
    return this.#db.getRange({ start: prefix, end: after(prefix) });
  }

  /** Delete everything of a table and space. */
  wipe(table: Table, space: Buffer): void {
    const prefix = keyOf(table, space);
    for (;;) {
      const keys = this.keys(prefix, 1000);
      for (const key of keys) this.delete(key);
      if (keys.length < 1000) return;
    }
  }
}
