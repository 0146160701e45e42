/** Reads tables in windows by primary key. Each window is a separate short transaction. */
import type { Value } from '../../../disk/sqlite.js';
import type { CommitBatch } from '../base/commit-batch.js';
import type { Transaction } from '../base/transaction.js';

/** Rows of one transaction, which takes some ms. */
export const WINDOW = 500;

/**
 * The rows of a query, window after window.
 * @param query for rows with a column `key`; its parameters are the space, the key after which a window begins, and its rows
 * @param first a value before every key
 */
export async function* rowsInWindows<Row extends object>(
  batch: CommitBatch,
  query: string,
  spaceOf: (tx: Transaction) => number,
  first: Value,
): AsyncIterable<readonly Row[]> {
  for (let after: Value | null = first; after !== null; ) {
    const from: Value = after;
    const rows = (await batch.read((tx) => tx.sql.of(query).all(spaceOf(tx), from, WINDOW))) as (Row & {
      readonly key: Value;
    })[];
    yield rows;
    after = rows.length < WINDOW ? null : rows.at(-1)!.key;
  }
}
