/**
 * Copies what SQLite itself still reads of a damaged file, table by table, in windows of rows. Where a window cannot be read it
 * goes row by row, then steps over what does not read: by 1, 2, 4 … row numbers until one reads, and back by halves to the
 * first that does. A table without row numbers is read from both ends.
 */
import type { Statements } from '../file/statements.js';

const WINDOW = 1_000;
const LAST_ROW = Number.MAX_SAFE_INTEGER;

interface Copy {
  readonly sql: Statements;
  readonly table: string;
  readonly columns: string;
}

/** Copy a table of the attached schema `damaged` into the same one of `main`. @returns whether all of it could be read. */
export function copyTable(sql: Statements, table: string): boolean {
  const found = sql.all<{ name: string; pk: number }>`SELECT name, pk FROM pragma_table_info(${table})`;
  const copy = { sql, table, columns: found.map(({ name }) => name).join(', ') };
  const hasRowid = sql.get`SELECT 1 FROM pragma_table_list WHERE name = ${table} AND wr = 0` !== undefined;
  if (hasRowid) return copyByRowid(copy);
  const keys = found.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return copyByKey(
    copy,
    keys.map(({ name }) => name),
  );
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

/** In the order of its key up to the first row that cannot be read, then from the other end. */
function copyByKey({ sql, table, columns }: Copy, keys: readonly string[]): boolean {
  const copyFirst = (order: string, most: number, offset: number): boolean => {
    try {
      sql.connection.exec(`INSERT OR IGNORE INTO main.${table} (${columns}) SELECT ${columns} FROM damaged.${table} NOT INDEXED
        ORDER BY ${order} LIMIT ${most} OFFSET ${offset}`);
      return true;
    } catch {
      return false;
    }
  };
  const copyAll = (order: string): boolean => {
    if (copyFirst(order, -1, 0)) return true;
    // Twice as many as before while they read, then half as many: the largest number of rows that reads from this end.
    let [good, step] = [0, 1];
    for (; copyFirst(order, step, good); step *= 2) good += step;
    for (; step >= 1; step = Math.floor(step / 2)) if (copyFirst(order, step, good)) good += step;
    return false;
  };
  if (copyAll(keys.join(', '))) return true;
  copyAll(keys.map((key) => `${key} DESC`).join(', '));
  return false;
}
