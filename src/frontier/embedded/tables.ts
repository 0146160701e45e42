/**
 * Raw entries of the store inside one transaction: single keys, ranges in order, and wiping whole tables.
 *
 * A value that does not fit a page is kept in pieces that do. LMDB would take it as it is, on pages of its own, but
 * lmdb-js 3.5 keeps its list of free pages wrong now and then when several processes write values that large: keys
 * were lost about once in a million transactions, and never with small values (measured: 3 processes, 10⁶ each way).
 */
import { randomBytes } from 'node:crypto';
import type { Database } from 'lmdb';
import { after, keyOf, nothing, SPACE_BYTES, Table } from './keys.js';

export type Store = Database<Buffer, Buffer>;

/** Two entries must fit a page of 4 KB, keys and bookkeeping included. */
const PIECE_BYTES = 1700;

/** What stands in place of a large value: five bytes that begin no other value, its blob, and its length. */
const MARK = Buffer.alloc(5, 0xff);
const BLOB_BYTES = 8;
const POINTER_BYTES = MARK.length + BLOB_BYTES + 4;

/** Tables whose values may be large. */
const largeTables: ReadonlySet<number> = new Set([
  Table.meta,
  Table.incarnation,
  Table.domain,
  Table.request,
  Table.failed,
  Table.seen,
  Table.list,
  Table.feed,
  Table.outbox,
]);

/** An entry of a table. */
export interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export class Tables {
  /** Any write at all, so that a verb that fails half-way is told from one that refused before it wrote. */
  writes = 0;
  /** Those that are sure to have changed something, so that their transaction has a number of its own. */
  puts = 0;
  readonly #db: Store;

  constructor(db: Store) {
    this.#db = db;
  }

  get(key: Buffer): Buffer | undefined {
    const value = this.#db.get(key);
    return value === undefined ? undefined : this.#whole(key, value);
  }

  /** A small value, to be decoded at once: it lies in memory of lmdb-js that the next look is written over. */
  glance(key: Buffer): Buffer | undefined {
    return this.#db.getBinaryFast(key);
  }

  has(key: Buffer): boolean {
    return this.#db.doesExist(key);
  }

  /** `before` is the size of what stands there, 0 for nothing, where the caller knows: that saves a look. */
  put(key: Buffer, value: Buffer = nothing, before?: number): void {
    this.writes += 1;
    this.puts += 1;
    if (before === undefined || before > PIECE_BYTES) this.#dropPieces(key);
    this.#db.putSync(key, value.length > PIECE_BYTES ? this.#putPieces(key, value) : value);
  }

  delete(key: Buffer, before?: number): void {
    this.writes += 1;
    if (before === undefined || before > PIECE_BYTES) this.#dropPieces(key);
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

  /** Up to `max` last keys that begin with `prefix`, last first. */
  lastKeys(prefix: Buffer, max: number): Buffer[] {
    return [...this.#db.getKeys({ start: after(prefix), end: prefix, limit: max, reverse: true })];
  }

  /** Up to `max` entries that begin with `prefix`, in order; read at once, so that writes may follow. */
  entries(prefix: Buffer, max: number, start: Buffer = prefix): Entry[] {
    const found = [...this.#db.getRange({ start, end: after(prefix), limit: max })];
    return found.map(({ key, value }) => ({ key, value: this.#whole(key, value) }));
  }

  /** All entries of a table and space, lazily; not to be mixed with writes. */
  *scan(table: Table, space: Buffer): Iterable<Entry> {
    const prefix = keyOf(table, space);
    for (const { key, value } of this.#db.getRange({ start: prefix, end: after(prefix) })) {
      yield { key, value: this.#whole(key, value) };
    }
  }

  /** How many entries a table and space has. */
  countEntries(table: Table, space: Buffer): number {
    const prefix = keyOf(table, space);
    return this.#db.getKeysCount({ start: prefix, end: after(prefix) });
  }

  /** Delete everything of a table and space. */
  wipe(table: Table, space: Buffer): void {
    while (this.wipeSome(table, space, 1000) === 1000);
  }

  /** Delete at most `max` entries of a table and space. @returns how many there were; fewer than `max` were all. */
  wipeSome(table: Table, space: Buffer, max: number): number {
    const pieces = keyOf(Table.piece, space, Buffer.from([table]));
    let wiped = 0;
    for (const prefix of largeTables.has(table) ? [keyOf(table, space), pieces] : [keyOf(table, space)]) {
      const keys = wiped < max ? this.keys(prefix, max - wiped) : [];
      for (const key of keys) this.delete(key, 0);
      wiped += keys.length;
    }
    return wiped;
  }

  #putPieces(key: Buffer, value: Buffer): Buffer {
    const pointer = Buffer.concat([MARK, randomBytes(BLOB_BYTES), Buffer.alloc(4)]);
    pointer.writeUInt32BE(value.length, POINTER_BYTES - 4);
    for (const [number, at] of offsets(value.length).entries()) {
      this.#db.putSync(pieceKey(key, pointer, number), value.subarray(at, at + PIECE_BYTES));
    }
    return pointer;
  }

  #dropPieces(key: Buffer): void {
    if (!largeTables.has(key[0] ?? 0)) return;
    const pointer = this.#db.get(key);
    if (pointer === undefined || !isPointer(pointer)) return;
    for (const number of offsets(pointer.readUInt32BE(POINTER_BYTES - 4)).keys()) {
      this.#db.removeSync(pieceKey(key, pointer, number));
    }
  }

  #whole(key: Buffer, value: Buffer): Buffer {
    if (!isPointer(value)) return value;
    const pieces = offsets(value.readUInt32BE(POINTER_BYTES - 4)).map((_, number) =>
      this.#db.get(pieceKey(key, value, number)),
    );
    return Buffer.concat(pieces.map((piece) => piece ?? nothing));
  }
}

const isPointer = (value: Buffer): boolean =>
  value.length === POINTER_BYTES && value[0] === 0xff && value.subarray(0, MARK.length).equals(MARK);

/** Where the pieces of a value begin. */
function offsets(length: number): number[] {
  return Array.from({ length: Math.ceil(length / PIECE_BYTES) }, (_, number) => number * PIECE_BYTES);
}

/** Beside the other pieces of the same table and space, so that they are wiped with it. */
function pieceKey(owner: Buffer, pointer: Buffer, number: number): Buffer {
  const place = Buffer.allocUnsafe(1 + BLOB_BYTES + 4);
  place[0] = owner[0] ?? 0;
  place.set(pointer.subarray(MARK.length, MARK.length + BLOB_BYTES), 1);
  place.writeUInt32BE(number, 1 + BLOB_BYTES);
  return keyOf(Table.piece, owner.subarray(1, 1 + SPACE_BYTES), place);
}
