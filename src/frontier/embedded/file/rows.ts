/** Rows of many columns. A row object has every column of its table; an object in it is stored as JSON. */
import type { Value } from '../../../disk/sqlite.js';
import type { Statements } from './statements.js';

type Table = 'crawl' | 'tally' | 'domain' | 'node' | 'feed' | 'robots';

/** A row that is read once, changed in place, and written once a transaction. */
export class StoredRow<Row extends object> {
  readonly row: Row;
  /** As it stands in the file; null where it is not there yet. */
  #written: Row | null;

  constructor(row: Row, isNew = false) {
    this.row = row;
    this.#written = isNew ? null : { ...row };
  }

  get isNew(): boolean {
    return this.#written === null;
  }

  /** Insert the row, or update the columns that have changed. `key` finds it. */
  write(sql: Statements, table: Table, key: readonly (keyof Row & string)[]): void {
    if (this.#written === null) writeRow(sql, table, this.row);
    else if (!updateRow(sql, table, key, this.row, this.#written)) return;
    this.#written = { ...this.row };
  }
}

/** Insert a row, or replace the one with its primary key. */
export function writeRow<Row extends object>(sql: Statements, table: Table, row: Row): void {
  const columns = Object.keys(row);
  const places = columns.map(() => '?').join(', ');
  sql
    .of(`REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${places})`)
    .run(...Object.values(row).map(stored));
}

/** SQLite touches only the indexes of the columns that an UPDATE names. @returns whether any column has changed */
function updateRow<Row extends object>(
  sql: Statements,
  table: Table,
  key: readonly (keyof Row & string)[],
  row: Row,
  written: Row,
): boolean {
  const changed: string[] = [];
  const values: Value[] = [];
  for (const column in row) {
    if (row[column] === written[column]) continue;
    changed.push(column);
    values.push(stored(row[column]));
  }
  if (changed.length === 0) return false;
  const set = changed.map((column) => `${column} = ?`).join(', ');
  const where = key.map((column) => `${column} = ?`).join(' AND ');
  sql
    .of(`UPDATE ${table} SET ${set} WHERE ${where}`)
    .run(...values, ...key.map((column) => stored(row[column])));
  return true;
}

function stored(value: unknown): Value {
  const isJson = typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
  return isJson ? JSON.stringify(value) : (value as Value);
}
