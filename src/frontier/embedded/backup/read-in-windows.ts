/** Reads tables in windows by primary key. Each window is a separate short transaction. */
import type { Value } from '../../../disk/sqlite.js';
import type { CommitBatch } from '../crawl/commit-batch.js';
import type { Transaction } from '../crawl/transaction.js';

/** Rows of one transaction, which takes some ms. */
const WINDOW = 500;

/** A window of values, and the key after which the next one begins; null at the end. */
export interface Page<T, Key extends Value> {
  readonly values: readonly T[];
  readonly next: Key | null;
}

/** Page after page from `first` on. `read` returns at most `max` values behind a key. */
export async function* pages<T, Key extends Value>(
  batch: CommitBatch,
  first: Key,
  read: (tx: Transaction, after: Key, max: number) => Page<T, Key>,
): AsyncIterable<readonly T[]> {
  for (let after: Key | null = first; after !== null; ) {
    const from: Key = after;
    const page: Page<T, Key> = await batch.read((tx) => read(tx, from, WINDOW));
    yield page.values;
    after = page.next;
  }
}

/** The page of these rows, which are the last ones when they are fewer than `max`. */
export function pageOf<Row, T, Key extends Value>(
  rows: readonly Row[],
  max: number,
  keyOf: (row: Row) => Key,
  valuesOf: (row: Row) => readonly T[],
): Page<T, Key> {
  return { values: rows.flatMap(valuesOf), next: rows.length < max ? null : keyOf(rows.at(-1)!) };
}
