/** Deleting the rows of spaces that were cleared, in steps of bounded work. */
import type { OpenCrawl } from '../base/open-crawl.js';

/** Rows deleted by one step: a transaction of some 20 ms. */
const STEP = 5_000;

/** Pages given back to the disk with each step. */
const VACUUM_PAGES = 500;

/** The tables with rows of spaces, each with the column that identifies a row within its space. */
const tables = `
  SELECT name AS "table",
    coalesce((SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk DESC LIMIT 1), 'rowid') AS key
  FROM sqlite_schema AS t
  WHERE type = 'table' AND name <> 'record' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'space')`;

/** Delete some of what was cleared. @returns whether that was all. */
export function sweepSome({ sql }: OpenCrawl): boolean {
  const garbage = sql.get<{ id: number }>`SELECT id FROM space WHERE name IS NULL LIMIT 1`;
  if (garbage === undefined) return true;
  const { id } = garbage;
  let left = STEP;
  for (const { table, key } of sql.of(tables).all() as { table: string; key: string }[]) {
    // A request's record is deleted before the request.
    if (table === 'request') {
      sql.run`DELETE FROM record WHERE n IN (SELECT n FROM request WHERE space = ${id} ORDER BY id LIMIT ${left})`;
    }
    const order = table === 'request' ? 'ORDER BY id' : '';
    const deletion = sql.of(
      `DELETE FROM ${table} WHERE space = ? AND ${key} IN (SELECT ${key} FROM ${table} WHERE space = ? ${order} LIMIT ?)`,
    );
    left -= Number(deletion.run(id, id, left).changes);
    if (left <= 0) break;
  }
  if (left > 0) sql.run`DELETE FROM space WHERE id = ${id}`;
  sql.of(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`).all();
  return false;
}
