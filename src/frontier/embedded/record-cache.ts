/** Records of one kind inside one transaction: decoded once, changed in place, written back once at its end. */
import type { Tables } from './tables.js';

interface Cached<T> {
  readonly key: Buffer;
  value: T | null;
  isDirty: boolean;
}

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
  readonly #cached = new Map<string | number, Cached<T>>();

  constructor(tables: Tables, kind: RecordKind<Id, T>) {
    this.#tables = tables;
    this.#kind = kind;
  }

  /** The record, or null when there is none. Who changes it calls `keep`. */
  get(id: Id): T | null {
    return this.#lookUp(id).value;
  }

  /** The record is new or was changed. */
  keep(id: Id, value: T): void {
    const cached = this.#lookUp(id);
    cached.value = value;
    cached.isDirty = true;
  }

  /** The record is to be deleted. */
  drop(id: Id): void {
    const cached = this.#lookUp(id);
    cached.value = null;
    cached.isDirty = true;
  }

  /** Records made or changed in this transaction. */
  *changed(): Iterable<T> {
    for (const { value, isDirty } of this.#cached.values()) if (isDirty && value !== null) yield value;
  }

  /** Forget everything, after the table itself was wiped. */
  forget(): void {
    this.#cached.clear();
  }

  /** Write back what was changed. */
  write(): void {
    for (const { key, value, isDirty } of this.#cached.values()) {
      if (!isDirty) continue;
      if (value === null) this.#tables.delete(key);
      else this.#tables.put(key, this.#kind.encode(value));
    }
  }

  #lookUp(id: Id): Cached<T> {
    const name = this.#kind.nameOf(id);
    let cached = this.#cached.get(name);
    if (cached === undefined) {
      const key = this.#kind.keyOf(id);
      const bytes = this.#tables.get(key);
      cached = { key, value: bytes === undefined ? null : this.#kind.decode(bytes, id), isDirty: false };
      this.#cached.set(name, cached);
    }
    return cached;
  }
}
