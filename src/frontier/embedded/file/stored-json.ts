/** JSON in columns, which others may have written over. What does not read names its table and column. */
import { messageOf } from '../../../errors.js';
import { ContradictingRows } from './sqlite-errors.js';

/** @throws ContradictingRows where the text is no JSON; null stays null. */
export function storedJson<T>(text: string | null, table: string, column: string): T {
  try {
    return JSON.parse(text ?? 'null') as T;
  } catch (error) {
    throw unreadableValue(table, column, messageOf(error));
  }
}

/** A value that no verb has written. */
export function unreadableValue(table: string, column: string, why = ''): ContradictingRows {
  return new ContradictingRows(
    `the column ${column} of the table ${table} holds what no crawlnode has written${why === '' ? '' : `: ${why}`}`,
  );
}
