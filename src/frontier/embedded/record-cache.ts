/** Records of one kind: decoded once, changed in place, written back once at the end of each transaction. */
import type { Tables } from './tables.js';

interface Cached<T> {
  readonly key: Buffer;
  value: T | null;
  /** Bytes it takes in the store, 0 for nothing. */
  size: number;
  isDirty: boolean;
}

/** Records by name, for one transaction or more (`kept.ts`). */
export type CachedRecords<T> = Map<string | number, Cached<T>>;

/** How a kind of record is stored. */
export interface RecordKind<Id, T> {
  /** What tells one id from another. */
  nameOf(id: Id): string | number;
  keyOf(id: Id): Buffer;
  decode(bytes: Buffer, id: Id): T;
  encode(value: T): Buffer;
}

export class RecordCache<Id, T> {
  readonly #tables: Tables;
  readonly #kind: RecordKind<Id, T>;
  readonly #cached: CachedRecords<T>;
  readonly #dirty: Cached<T>[] = [];

  constructor(tables: Tables, cached: CachedRecords<T>, kind: RecordKind<Id, T>) {
    this.#tables = tables;
    this.#cached = cached;
    this.#kind = kind;
  }

  /** The record, or null when there is none. Who changes it calls `keep`. */
  get(id: Id): T | null {
    return this.#lookUp(id).value;
  }

  /** The record is new or was changed. */
  keep(id: Id, value: T): void {
    this.#change(id, value);
  }

  /** The record is to be deleted. */
  drop(id: Id): void {
    this.#change(id, null);
  }

  /** Records made or changed in this transaction. */
  *changed(): Iterable<T> {
    for (const { value } of this.#dirty) if (value !== null) yield value;
  }

  /** Forget everything, after the table itself was wiped. */
  forget(): void {
    this.#cached.clear();
    this.#dirty.length = 0;
  }

  /** Write back what was changed. */
  write(): void {
    for (const cached of this.#dirty) {
      const { key, value, size } = cached;
      cached.isDirty = false;
      if (value === null) {
        if (size > 0) this.#tables.delete(key, size);
        cached.size = 0;
      } else {
        const bytes = this.#kind.encode(value);
        this.#tables.put(key, bytes, size);
        cached.size = bytes.length;
      }
    }
    this.#dirty.length = 0;
  }

  #change(id: Id, value: T | null): void {
    const cached = this.#lookUp(id);
    cached.value = value;
    if (cached.isDirty) return;
    cached.isDirty = true;
    this.#dirty.push(cached);
  }

  #lookUp(id: Id): Cached<T> {
    const name = this.#kind.nameOf(id);
    let cached = this.#cached.get(name);
    if (cached === undefined) {
      const key = this.#kind.keyOf(id);
      const bytes = this.#tables.get(key);
      cached = {
        key,
        value: bytes === undefined ? null : this.#kind.decode(bytes, id),
        size: bytes?.length ?? 0,
        isDirty: false,
      };
      this.#cached.set(name, cached);
    }
    return cached;
  }
}
