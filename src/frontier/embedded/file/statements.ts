/**
 * The prepared statements of a connection. A verb writes its SQL where it is used, as a tagged template; each place in the
 * code is prepared once and kept here, so that a call only binds its values.
 *
 *   const row = sql.get<{ n: number }>`SELECT n FROM request WHERE space = ${space} AND id = ${id}`;
 */
import type { Connection, Statement, Value } from '../../../disk/sqlite.js';

/** A connection with its statements. */
export class Statements {
  readonly connection: Connection;
  readonly #byTemplate = new Map<TemplateStringsArray, Prepared>();
  readonly #byText = new Map<string, Statement>();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  /** The first row, or undefined. */
  get<Row>(sql: TemplateStringsArray, ...values: readonly Value[]): Row | undefined {
    const { statement, columns } = this.#prepared(sql);
    const row = statement.get(...values) as Value[] | undefined;
    return row === undefined ? undefined : rowOf<Row>(columns, row);
  }

  /** All rows, read at once, so that writes may follow. */
  all<Row>(sql: TemplateStringsArray, ...values: readonly Value[]): Row[] {
    const { statement, columns } = this.#prepared(sql);
    return (statement.all(...values) as Value[][]).map((row) => rowOf<Row>(columns, row));
  }

  /** @returns how many rows were inserted, updated or deleted. */
  run(sql: TemplateStringsArray, ...values: readonly Value[]): number {
    return Number(this.#prepared(sql).statement.run(...values).changes);
  }

  /** Insert a row. @returns its number; 0 where it was not inserted because of a conflict. */
  insert(sql: TemplateStringsArray, ...values: readonly Value[]): number {
    const { changes, lastInsertRowid } = this.#prepared(sql).statement.run(...values);
    return changes === 0 ? 0 : Number(lastInsertRowid);
  }

  /** The first column of all rows, of a statement whose text is made by code. */
  column<T extends Value>(text: string, ...values: readonly Value[]): T[] {
    const rows = this.of(text).all(...values) as object[];
    return rows.map((row) => Object.values(row)[0] as T);
  }

  /** How many rows of a space are in a table. */
  count(table: string, space: number): number {
    return this.column<number>(`SELECT count(*) FROM ${table} WHERE space = ?`, space)[0]!;
  }

  /** A statement whose text is made by code, such as one for all columns of a table. */
  of(text: string): Statement {
    let statement = this.#byText.get(text);
    if (statement === undefined) {
      statement = this.connection.prepare(text);
      this.#byText.set(text, statement);
    }
    return statement;
  }

  #prepared(sql: TemplateStringsArray): Prepared {
    let prepared = this.#byTemplate.get(sql);
    if (prepared === undefined) {
      const statement = this.connection.prepare(sql.join('?'));
      statement.setReturnArrays(true);
      prepared = { statement, columns: statement.columns().map(({ name }) => name) };
      this.#byTemplate.set(sql, prepared);
    }
    return prepared;
  }
}

/** A statement that returns rows as arrays: the drivers take twice as long to make objects as we do. */
interface Prepared {
  readonly statement: Statement;
  readonly columns: readonly string[];
}

/** A row by the names of its columns. */
function rowOf<Row>(columns: readonly string[], values: readonly Value[]): Row {
  const row: Record<string, Value> = {};
  for (let n = 0; n < columns.length; n += 1) row[columns[n]!] = values[n]!;
  return row as Row;
}

/** Text as every SQLite driver gives it back: the package reads a text up to its first NUL only. */
export function plainText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
}
