/**
 * Saves what can be read of a damaged file into a new one. Each page is read by itself, so a damaged page costs only its own
 * rows. A request whose row is lost is rebuilt from the indexes. The damaged file is kept under another name. The saved
 * counters may be wrong, so each crawl stays paused until it is repaired (`doctor/repair.ts`).
 */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { connect, type Value } from '../../../disk/sqlite.js';
import { RefusedError } from '../../../errors.js';
import type { Salvaged } from '../../open-options.js';
import { type FirstShape, newTally, writeNewCrawl } from '../crawl/crawl-row.js';
import { closeGaps } from '../feeds/damaged-outboxes.js';
import { createFile, removeFile } from '../file/database.js';
import { enterFolder, otherUsers } from '../file/folder.js';
import { writeRow } from '../file/rows.js';
import { Statements } from '../file/statements.js';
import { fileIn } from '../file/wal.js';
import { decodePage } from './btree-page.js';
import { countLost } from './count-lost.js';
import { ownedPages } from './page-owners.js';
import { openPages, type PageSource } from './page-source.js';
import { SavedTable } from './saved-rows.js';

/** Rows of one transaction. */
const STEP = 10_000;

/** @throws RefusedError while other processes have the folder open, unless forced. */
export function salvage(dir: string, shape: FirstShape, force: boolean): Salvaged {
  const folder = enterFolder(dir);
  const file = fileIn(dir);
  const fresh = `${file}.${process.pid}.new`;
  try {
    const users = otherUsers(dir);
    if (users > 0 && !force) throw inUse(file, users);
    removeFile(fresh);
    createFile(fresh);
    const saved = saveInto(fresh, file, shape);
    return { ...saved, damagedFile: replace(file, fresh) };
  } finally {
    removeFile(fresh);
    folder.release();
  }
}

function saveInto(fresh: string, file: string, shape: FirstShape): Omit<Salvaged, 'damagedFile'> {
  const pages = openPages(file);
  const connection = connect(fresh);
  try {
    const sql = new Statements(connection);
    const found = copyRows(sql, pages);
    const lost = countLost(sql);
    sql.of('BEGIN').run();
    for (const space of sql.column<number>('SELECT DISTINCT space FROM outbox UNION SELECT space FROM feed'))
      closeGaps(sql, space);
    const crawls = pauseCrawls(sql, shape);
    sql.of('COMMIT').run();
    // Everything must be in the file itself: the log is not renamed with it.
    sql.of('PRAGMA wal_checkpoint(TRUNCATE)').all();
    return { ...found, lost, crawls };
  } finally {
    pages.close();
    connection.close();
  }
}

/** Names of tables and indexes by their root page: from the damaged file, else as in a new file. */
function treesOf(pages: PageSource, sql: Statements): Map<number, string> {
  const trees = sql.all<{ name: string; rootpage: number }>`SELECT name, rootpage FROM sqlite_schema`;
  const names = new Set<Value>(trees.map(({ name }) => name));
  const found = new Map<number, string>();
  for (const { number, root } of ownedPages(pages, new Map())) {
    if (root !== 1) continue;
    for (const { values } of decodePage(number, pages)?.rows ?? []) {
      const [, name = null, , rootpage] = values;
      if (names.has(name) && typeof rootpage === 'number') found.set(rootpage, name as string);
    }
  }
  const named = new Set(found.values());
  for (const { name, rootpage } of trees)
    if (!named.has(name) && !found.has(rootpage)) found.set(rootpage, name);
  return found;
}

/** Tables that are not saved: no node holds a lease of the new file, and robots.txt is fetched again. */
const notSaved = new Set(['node', 'robots', 'sqlite_sequence']);

/** Indexes from which lost rows are rebuilt, and where their entries are kept: the columns of the index, and the row's number. */
const indexes = {
  request_id: 'known_id',
  request_pending: 'known_pending',
  sqlite_autoindex_space_1: 'known_space',
};
const indexTables = `
  CREATE TEMP TABLE known_id (space INTEGER NOT NULL, id BLOB NOT NULL, n INTEGER NOT NULL);
  CREATE TEMP TABLE known_pending (
    space INTEGER NOT NULL, domain TEXT NOT NULL, rank INTEGER NOT NULL, arrival INTEGER NOT NULL, n INTEGER NOT NULL);
  CREATE TEMP TABLE known_space (name TEXT NOT NULL, id INTEGER NOT NULL);
`;

/** Copy what can be read of the tables, and rebuild rows from indexes. */
function copyRows(sql: Statements, pages: PageSource): Pick<Salvaged, 'saved' | 'unreadable'> {
  const trees = treesOf(pages, sql);
  const names = sql
    .column<string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .filter((name) => !notSaved.has(name));
  sql.connection.exec(indexTables);
  const tables = new Map(names.map((name) => [name, new SavedTable(sql, name)]));
  const entries = new Map(
    Object.entries(indexes).map(([index, table]) => [index, new SavedTable(sql, table)]),
  );
  const unreadable = { pages: 0, rows: 0 };
  let left = STEP;
  sql.of('BEGIN').run();
  for (const { number, root } of ownedPages(pages, trees)) {
    const tree = trees.get(root);
    if (tree === undefined) continue;
    const table = tables.get(tree);
    const page = decodePage(number, pages);
    if (page === null) unreadable.pages += 1;
    else if (table !== undefined) unreadable.rows += page.unreadable;
    for (const row of page?.rows ?? []) (table ?? entries.get(tree))?.add(row);
    left -= page?.rows.length ?? 0;
    if (left > 0) continue;
    sql.of('COMMIT').run();
    sql.of('BEGIN').run();
    left = STEP;
  }
  rebuildFromIndexes(sql);
  sql.of('COMMIT').run();
  for (const { refused } of tables.values()) unreadable.rows += refused;
  const saved = names.map((name) => [name, sql.column<number>(`SELECT count(*) FROM ${name}`)[0]!]);
  return { saved: Object.fromEntries(saved), unreadable };
}

/**
 * A request whose row is lost becomes pending. The repair takes an unknown domain from the record. Without a record it counts
 * the request as lost, and forgets its fingerprint.
 */
function rebuildFromIndexes(sql: Statements): void {
  sql.run`INSERT OR IGNORE INTO request (n, space, id, state, domain, priority, rank, arrival, crashes, unfiltered)
    SELECT n, known_id.space, id, 'pending', coalesce(domain, ''), -coalesce(rank, 0), coalesce(rank, 0), coalesce(arrival, 0), 0, 0
    FROM known_id LEFT JOIN known_pending USING (n) WHERE n NOT IN (SELECT n FROM request)`;
  sql.run`INSERT OR IGNORE INTO space (id, name) SELECT id, name FROM known_space`;
  sql.run`UPDATE space SET is_crawl = 1 WHERE id IN (SELECT space FROM crawl UNION SELECT space FROM tally)`;
}

/** Pause each crawl until it is repaired, and raise its epoch so that nodes forget the links they know. @returns the names. */
function pauseCrawls(sql: Statements, shape: FirstShape): string[] {
  const crawls = `FROM space WHERE is_crawl = 1 AND name IS NOT NULL`;
  const without = (table: string) =>
    sql.column<number>(`SELECT id ${crawls} AND id NOT IN (SELECT space FROM ${table})`);
  const nowMs = Date.now();
  for (const id of without('crawl')) writeNewCrawl(sql, id, shape, nowMs);
  for (const id of without('tally')) writeRow(sql, 'tally', newTally(id, nowMs));
  sql.run`UPDATE crawl SET epoch = epoch + 1, repairing = coalesce(repairing, control), control = 'paused'`;
  return sql.column(`SELECT name ${crawls} ORDER BY name`);
}

/** Keep the damaged file under another name and put the new one in its place. The file exists at every moment. */
function replace(file: string, fresh: string): string {
  const aside = `${file}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  linkSync(file, aside);
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${aside}-wal`);
  rmSync(`${file}-shm`, { force: true });
  renameSync(fresh, file);
  return aside;
}

function inUse(file: string, users: number): RefusedError {
  const others = users === 1 ? 'another process has' : `${users} other processes have`;
  return new RefusedError(
    `${others} ${file} open, and would go on with the damaged file: end them first ("crawlnode stop SPIDER", or the processes named in the folder "users" beside it)`,
    { code: 'live_nodes' },
  );
}
