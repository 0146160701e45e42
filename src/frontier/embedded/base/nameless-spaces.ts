/**
 * Rows whose space has no row of its own any more, so that no verb finds them: somebody deleted rows of the table `space`. The
 * key of a crawl is named again by its own row. Any other key is known only where the folder has no other crawl, and one space
 * that it may be.
 */
import type { Statements } from '../file/statements.js';

/** A key, and the tables that hold its rows. */
export interface Key {
  readonly name: string;
  readonly tables: readonly string[];
}

/** @returns a sentence for each table with such rows. */
export function namelessSpaces(sql: Statements): string[] {
  // `record` has no index by space; its rows go with those of `request`.
  const tables = sql.column<string>(
    `SELECT name FROM sqlite_schema AS t WHERE type = 'table' AND name <> 'record'
       AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'space')`,
  );
  return tables
    .filter((table) => namelessIn(sql, table).length > 0)
    .map((table) => `I1: rows of the table ${table} belong to a key whose name is gone`);
}

/** Name the crawls, and the keys of one of them, again. @returns how many */
export function nameSpaces(
  sql: Statements,
  { crawl, others }: { readonly crawl: Key; readonly others: readonly Key[] },
): number {
  // Somebody has given it another name.
  let named = sql.run`UPDATE OR IGNORE space SET name = ${crawl.name}, is_crawl = 1
    WHERE name <> ${crawl.name} AND id = (SELECT space FROM crawl WHERE name = ${crawl.name})`;
  named += nameCrawls(sql);
  for (const key of others) {
    const id = namelessSpaceOf(sql, key);
    if (id !== null) named += sql.run`INSERT OR IGNORE INTO space (id, name) VALUES (${id}, ${key.name})`;
  }
  return named;
}

export function nameCrawls(sql: Statements): number {
  return sql.run`INSERT OR IGNORE INTO space (id, name, is_crawl)
    SELECT space, name, 1 FROM crawl WHERE space NOT IN (SELECT id FROM space)`;
}

/** The space of a key that has lost its name; null where there is none. */
export function namelessSpaceOf(sql: Statements, { name, tables }: Key): number | null {
  if (tables.length === 0 || sql.column<number>('SELECT count(*) FROM crawl')[0] !== 1) return null;
  const found = new Set(tables.flatMap((table) => namelessIn(sql, table)));
  const [only] = found;
  if (only === undefined || found.size > 1) return null;
  return sql.get`SELECT 1 FROM space WHERE name = ${name}` === undefined ? only : null;
}

/** The spaces of a table, found by steps through an index, that have no row. */
function namelessIn(sql: Statements, table: string): number[] {
  return sql.column(
    `WITH RECURSIVE found (id) AS (
       SELECT min(space) FROM ${table}
       UNION ALL SELECT (SELECT min(space) FROM ${table} WHERE space > id) FROM found WHERE id IS NOT NULL)
     SELECT id FROM found WHERE id IS NOT NULL AND id NOT IN (SELECT id FROM space)`,
  );
}
