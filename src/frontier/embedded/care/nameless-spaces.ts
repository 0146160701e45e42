/** Rows whose space has no row of its own any more, so that no verb finds them: somebody deleted rows of the table `space`. */
import type { Space, Spaces } from '../base/keyspaces.js';
import type { Statements } from '../file/statements.js';

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

/**
 * Name them again: a crawl by its own row. Any other key is known only where the folder has no other crawl, and one space
 * that it may be.
 */
export function nameSpaces(sql: Statements, spaces: Spaces): void {
  nameCrawls(sql);
  if (sql.column<number>('SELECT count(*) FROM crawl')[0] !== 1) return;
  const { dupefilter, items, stats, feeds, telemetry, startUrls } = spaces;
  const keys: readonly (readonly [Space, ...tables: string[]])[] = [
    [dupefilter, 'dupefilter', 'seen', 'seen_timed', 'seen_state', 'seen_compact', 'seen_bloom'],
    [items, 'item'],
    [stats, 'counter'],
    [feeds, 'feed', 'outbox'],
    [telemetry, 'telemetry', 'domain_stats'],
    ...startUrls.flatMap(({ good, bad }) => [[good, 'seed'] as const, [bad, 'bad_seed'] as const]),
  ];
  for (const [{ id, name }, ...tables] of keys) {
    const found = new Set(tables.flatMap((table) => namelessIn(sql, table)));
    const [only] = found;
    if (id === 0 && only !== undefined && found.size === 1)
      sql.run`INSERT INTO space (id, name) VALUES (${only}, ${name})`;
  }
}

export function nameCrawls(sql: Statements): void {
  sql.run`INSERT OR IGNORE INTO space (id, name, is_crawl)
    SELECT space, name, 1 FROM crawl WHERE space NOT IN (SELECT id FROM space)`;
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
