/** Reads tables in windows by key. Each window is a separate short transaction. */
import type { Value } from '../../../disk/sqlite.js';
import type { CommitBatch } from './commit-batch.js';
import type { Transaction } from './transaction.js';

/** Rows of one transaction, which takes some ms. */
export const WINDOW = 500;

/** What a window shows, and the key after which the next one begins; undefined after the last. */
export interface Windowed<Key, Found> {
  readonly found: Found;
  readonly last: Key | undefined;
}

export async function* inWindows<Key, Found>(
  batch: CommitBatch,
  first: Key,
  look: (tx: Transaction, after: Key) => Windowed<Key, Found>,
): AsyncIterable<Found> {
  for (let after: Key | undefined = first; after !== undefined; ) {
    const from: Key = after;
    const { last, found } = await batch.read((tx) => look(tx, from));
    yield found;
    after = last;
  }
}

/**
 * The rows of a query, window after window.
 * @param query for rows with a column `key`; its parameters are the space, the key after which a window begins, and its rows
 * @param first a value before every key
 */
export function rowsInWindows<Row extends object>(
  batch: CommitBatch,
  query: string,
  spaceOf: (tx: Transaction) => number,
  first: Value,
): AsyncIterable<readonly Row[]> {
  return inWindows<Value, readonly Row[]>(batch, first, (tx, after) => {
    const found = tx.sql.of(query).all(spaceOf(tx), after, WINDOW) as (Row & { readonly key: Value })[];
    return { found, last: found.at(WINDOW - 1)?.key };
  });
}
