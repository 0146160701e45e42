/** Deleting the rows of spaces that were cleared, in steps of bounded work. */
import type { OpenCrawl } from '../crawl/open-crawl.js';

/** Rows deleted by one step: a transaction of some 20 ms. */
const STEP = 5_000;

/** Pages given back to the disk with each step. */
const VACUUM_PAGES = 500;

/** The column that identifies a row of a table within its space. A request's record is deleted before the request. */
const keysByTable = {
  request: 'n',
  failure: 'sequence',
  domain: 'name',
  robots: 'origin',
  node: 'number',
  crawl: 'space',
  tally: 'space',
  dupefilter: 'space',
  seen: 'id',
  seen_timed: 'id',
  seen_state: 'id',
  seen_compact: 'hash',
  seen_bloom: 'rowid',
  cookie_set: 'n',
  cookie_jar: 'name',
  validator: 'id',
  domain_pages: 'domain',
  seed: 'n',
  bad_seed: 'n',
  item: 'n',
  counter: 'name',
  feed: 'feed',
  outbox: 'n',
} as const;

type Table = keyof typeof keysByTable;

/** Delete some of what was cleared. @returns whether that was all. */
export function sweepSome({ sql }: OpenCrawl): boolean {
  const garbage = sql.get<{ id: number }>`SELECT id FROM space WHERE name IS NULL LIMIT 1`;
  if (garbage === undefined) return true;
  const { id } = garbage;
  let left = STEP;
  for (const table of Object.keys(keysByTable) as Table[]) {
    if (table === 'request') {
      sql.run`DELETE FROM record WHERE n IN (SELECT n FROM request WHERE space = ${id} ORDER BY id LIMIT ${left})`;
    }
    const key = keysByTable[table];
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
