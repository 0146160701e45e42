/**
 * Copies what SQLite itself still reads of a damaged file, table by table, in windows of rows. Where a window cannot be read it
 * goes row by row, then steps over what does not read: by 1, 2, 4 … row numbers until one reads, and back by halves to the
 * first that does. A table without row numbers is read from both ends, in parts by the first byte of its ids.
 */
import type { Value } from '../../../disk/sqlite.js';
import type { Statements } from '../file/statements.js';

const WINDOW = 1_000;
const LAST_ROW = Number.MAX_SAFE_INTEGER;

/** Copy a table of the attached schema `damaged` into the same one of `main`. @returns whether all of it could be read. */
export function copyTable(sql: Statements, table: string): boolean {
  const columns = sql.of('SELECT name, type, pk FROM pragma_table_info(?)').all(table) as unknown as Column[];
  const hasRowid = sql.get`SELECT 1 FROM pragma_table_list WHERE name = ${table} AND wr = 0` !== undefined;
  const copy = { sql, table, columns: columns.map(({ name }) => name).join(', ') };
  return hasRowid ? copyByRowid(copy) : copyByKey(copy, keysOf(columns));
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

interface Copy {
  readonly sql: Statements;
  readonly table: string;
  readonly columns: string;
}

function keysOf(columns: readonly Column[]): readonly Column[] {
  return columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
}

function copyByRowid(copy: Copy): boolean {
  let isWhole = true;
  let after: number | null = 0;
  let most = WINDOW;
  while (after !== null) {
    const last = windowAfter(copy, after, most);
    if (last !== undefined) {
      after = last;
      if (most === 1) most = WINDOW;
    } else if (most > 1) most = 1;
    else {
      isWhole = false;
      after = stepOver(copy, after);
    }
  }
  return isWhole;
}

/** Copy rows behind a row number. @returns the number of the last; null at the end; undefined where they cannot be read. */
function windowAfter({ sql, table, columns }: Copy, after: number, most: number): number | null | undefined {
  try {
    const rows = `FROM damaged.${table} NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ${most}`;
    const [last] = sql.column<number | null>(`SELECT max(rowid) FROM (SELECT rowid ${rows})`, after);
    if (last == null) return null;
    sql.of(`INSERT OR IGNORE INTO main.${table} (${columns}) SELECT ${columns} ${rows}`).run(after);
    return last;
  } catch {
    return undefined;
  }
}

/** @returns the row number behind which reading goes on; null where nothing more can be read. */
function stepOver(copy: Copy, after: number): number | null {
  const canRead = (from: number) => windowAfter(copy, from, 1) !== undefined;
  let [bad, step] = [after, 1];
  while (!canRead(after + step)) {
    bad = after + step;
    step *= 2;
    if (after + step >= LAST_ROW) return null;
  }
  let good = after + step;
  while (good - bad > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (canRead(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Keys before which a table is read apart, since one place that cannot be read ends a part. */
function partsOf(key: Column | undefined): readonly (readonly [from: Value, to: Value | null])[] {
  if (key?.name === 'id') {
    const ends = Array.from({ length: 256 }, (_, n) => new Uint8Array([n]));
    return ends.map((from, n) => [from, ends[n + 1] ?? null] as const);
  }
  if (key?.name === 'hash') {
    const ends = Array.from({ length: 256 }, (_, n) => (BigInt(n) - 128n) << 56n);
    return ends.map((from, n) => [from, ends[n + 1] ?? null] as const);
  }
  return [['', null]];
}

function copyByKey(copy: Copy, keys: readonly Column[]): boolean {
  let isWhole = true;
  const names = keys.map(({ name }) => name).join(', ');
  const down = keys.map(({ name }) => `${name} DESC`).join(', ');
  const [, key] = keys;
  const { sql, table, columns } = copy;
  const spaces = sql.column<number>('SELECT id FROM main.space');
  for (const space of spaces.length > 0 ? spaces : []) {
    for (const [from, to] of partsOf(key)) {
      const range =
        key === undefined ? '' : ` AND ${key.name} >= ?2${to === null ? '' : ` AND ${key.name} < ?3`}`;
      const values = [space, ...(key === undefined ? [] : [from, ...(to === null ? [] : [to])])];
      const rows = (order: string, most: number, offset: number) =>
        `INSERT OR IGNORE INTO main.${table} (${columns}) SELECT ${columns} FROM damaged.${table} NOT INDEXED
         WHERE space = ?1${range} ORDER BY ${order} LIMIT ${most} OFFSET ${offset}`;
      const isRead = (order: string): boolean => copyUntilUnreadable(sql, rows, order, values);
      if (isRead(names)) continue;
      isWhole = false;
      isRead(down);
    }
  }
  return isWhole;
}

/** Copy in one statement, else in windows, else row by row up to the first that cannot be read. @returns whether all were read. */
function copyUntilUnreadable(
  sql: Statements,
  rows: (order: string, most: number, offset: number) => string,
  order: string,
  values: readonly Value[],
): boolean {
  const run = (most: number, offset: number): boolean => {
    try {
      sql.connection.prepare(rows(order, most, offset)).run(...values);
      return true;
    } catch {
      return false;
    }
  };
  if (run(-1, 0)) return true;
  // Twice as many as before while they read, then half as many: the largest readable number of rows from this end.
  let [good, step] = [0, 1];
  while (run(good + step, 0)) {
    good += step;
    step *= 2;
  }
  for (; step >= 1; step = Math.floor(step / 2)) if (run(good + step, 0)) good += step;
  return false;
}
