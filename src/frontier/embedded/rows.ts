/** Rows of many columns, read and written whole. As arrays they are read in a third of the time that objects take. */
import type { Value } from './sqlite.js';
import { rowOf, type Statements } from './statements.js';

type Table = 'crawl' | 'tally' | 'domain' | 'node' | 'feed';

/** Names of the columns; the same for every file, as the schema is. */
const columnsByTable = new Map<Table, readonly string[]>();

/** The row whose column has this value; null where there is none. `Row` names the columns of the table. */
export function readRow<Row>(sql: Statements, table: Table, column: string, value: Value): Row | null {
  const statement = sql.of(`SELECT * FROM ${table} WHERE ${column} = ?`, (it) => it.setReturnArrays(true));
  const values = statement.get(value) as Value[] | undefined;
  return values === undefined ? null : rowOf<Row>(columnsOf(sql, table), values);
}

/** All rows of a space. */
export function readRows<Row>(sql: Statements, table: Table, space: number): Row[] {
  const statement = sql.of(`SELECT * FROM ${table} WHERE space = ?`, (it) => it.setReturnArrays(true));
  const columns = columnsOf(sql, table);
  return (statement.all(space) as Value[][]).map((values) => rowOf<Row>(columns, values));
}

/** Insert a row, or replace the one with its primary key. */
export function writeRow<Row extends object>(sql: Statements, table: Table, row: Row): void {
  const columns = columnsOf(sql, table);
  const places = columns.map(() => '?').join(', ');
  const values = columns.map((column) => (row as Record<string, Value>)[column] as Value);
  sql.of(`REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${places})`).run(...values);
}

/** Whether two rows of a table differ in any column. */
export function differ<Row extends object>(a: Row, b: Row): boolean {
  for (const column in a) if (a[column] !== b[column]) return true;
  return false;
}

export function columnsOf(sql: Statements, table: Table): readonly string[] {
  let columns = columnsByTable.get(table);
  if (columns === undefined) {
    const rows = sql.of('SELECT name FROM pragma_table_info(?)').all(table) as { name: string }[];
    columns = rows.map(({ name }) => name);
    columnsByTable.set(table, columns);
  }
  return columns;
}
