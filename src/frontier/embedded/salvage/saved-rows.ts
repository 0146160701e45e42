/** Inserts rows of a damaged file into a new one, if they fit the columns of their table. */
import type { Statement, Value } from '../../../disk/sqlite.js';
import type { Statements } from '../file/statements.js';
import type { Row } from './btree-page.js';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: 0 | 1;
  readonly pk: number;
}

/** Columns whose texts must be JSON. */
const jsonColumns = new Set([
  'record.text',
  'crawl.shape',
  'crawl.dupefilter',
  'crawl.tunables',
  'crawl.starts',
  'crawl.run',
  'dupefilter.choice',
  'bad_seed.entry',
  'cookie_set.cookies',
]);

/** Columns that hold fingerprints and ids. */
const ID_BYTES = 20;

const states = new Set(['pending', 'suspect', 'delayed', 'leased', 'failed']);

/** Inserts the rows of one table. */
export class SavedTable {
  readonly name: string;
  /** Rows that did not fit. */
  refused = 0;
  readonly #columns: readonly Column[];
  /** The column that stands for the row's number. */
  readonly #rowid: number;
  readonly #insert: Statement;

  constructor(sql: Statements, name: string) {
    this.name = name;
    this.#columns = sql
      .of('SELECT name, type, "notnull", pk FROM pragma_table_info(?)')
      .all(name) as unknown as Column[];
    const keys = this.#columns.filter(({ pk }) => pk > 0);
    this.#rowid = keys.length === 1 && keys[0]!.type === 'INTEGER' ? this.#columns.indexOf(keys[0]!) : -1;
    const places = this.#columns.map(() => '?').join(', ');
    this.#insert = sql.of(`INSERT OR IGNORE INTO ${name} VALUES (${places})`);
  }

  add({ rowid, values }: Row): void {
    const row = this.#columns.map((_, n) => (n === this.#rowid ? rowid : (values[n] as Value)));
    if (
      values.length !== this.#columns.length ||
      !row.every((value, n) => this.#fits(value, this.#columns[n]!))
    ) {
      this.refused += 1;
      return;
    }
    this.#insert.run(...row);
  }

  #fits(value: Value, { name, type, notnull, pk }: Column): boolean {
    if (value === null) return notnull === 0 && pk === 0;
    if (type === 'BLOB') return value instanceof Uint8Array && (name !== 'id' || value.length === ID_BYTES);
    if (type === 'INTEGER')
      return Number.isSafeInteger(value) || (typeof value === 'bigint' && name === 'hash');
    if (type === 'REAL') return typeof value === 'number';
    if (typeof value !== 'string') return type === 'ANY' && typeof value === 'number';
    if (jsonColumns.has(`${this.name}.${name}`)) return isJson(value);
    return this.name !== 'request' || name !== 'state' || states.has(value);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
