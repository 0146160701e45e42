/** The items list. */
import type { Transaction } from '../base/transaction.js';

/** Append items, JSON texts. */
export function addItems({ sql, spaces }: Transaction, texts: readonly string[]): void {
  if (texts.length === 0) return;
  const space = spaces.items.need();
  for (const text of texts) sql.run`INSERT INTO item (space, text) VALUES (${space}, ${text})`;
  spaces.items.entries += texts.length;
}

/** The first items, in order; they stay. */
export function peekItems({ sql, spaces }: Transaction, from: number, max: number): string[] {
  const rows = sql.all<{ text: string }>`
    SELECT text FROM item WHERE space = ${spaces.items.id} ORDER BY n LIMIT ${max} OFFSET ${from}`;
  return rows.map(({ text }) => text);
}

/** Remove the first items. @returns them, in order. */
export function takeFirstItems(tx: Transaction, max: number): string[] {
  const { items } = tx.spaces;
  const texts = peekItems(tx, 0, max);
  tx.sql.run`
    DELETE FROM item WHERE n IN (SELECT n FROM item WHERE space = ${items.id} ORDER BY n LIMIT ${texts.length})`;
  items.entries -= texts.length;
  return texts;
}
