/** Rows of many columns, written whole or by the columns that have changed. A row object has every column of its table. */
import type { Value } from '../../../disk/sqlite.js';
import type { Statements } from './statements.js';

type Table = 'crawl' | 'tally' | 'domain' | 'node' | 'feed' | 'robots';

/** Insert a row, or replace the one with its primary key. */
export function writeRow<Row extends object>(sql: Statements, table: Table, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  sql.of(`REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...Object.values(row));
}

/**
 * Update the columns in which a row differs from `written`, where `key` finds it. SQLite touches only the indexes of the
 * columns that an UPDATE names.
 */
export function updateRow<Row extends object>(
  sql: Statements,
  table: Table,
  key: readonly (keyof Row & string)[],
  row: Row,
  written: Row,
): void {
  const changed: string[] = [];
  const values: Value[] = [];
  for (const column in row) {
    if (row[column] === written[column]) continue;
    changed.push(column);
    values.push(row[column] as Value);
  }
  if (changed.length === 0) return;
  const set = changed.map((column) => `${column} = ?`).join(', ');
  const where = key.map((column) => `${column} = ?`).join(' AND ');
  sql
    .of(`UPDATE ${table} SET ${set} WHERE ${where}`)
    .run(...values, ...key.map((column) => row[column] as Value));
}

/** Whether two rows of a table differ in any column. */
export function differ<Row extends object>(a: Row, b: Row): boolean {
  for (const column in a) if (a[column] !== b[column]) return true;
  return false;
}
