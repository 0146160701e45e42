/**
 * Saves what can be read of a damaged file into a new one. Each page is read by itself, so a damaged page costs only its own
 * rows. A request whose row is lost is rebuilt from the indexes. The damaged file is kept under another name. The saved
 * counters may be wrong, so each crawl stays paused until it is repaired (`doctor/repair.ts`).
 */
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { connect } from '../../../disk/sqlite.js';
import { RefusedError } from '../../../errors.js';
import type { Salvaged } from '../../open-options.js';
import { type FirstShape, newTally, writeNewCrawl } from '../crawl/crawl-row.js';
import { createFile } from '../file/database.js';
import { enterFolder, otherUsers } from '../file/folder.js';
import { writeRow } from '../file/rows.js';
import { Statements } from '../file/statements.js';
import { fileIn } from '../file/wal.js';
import type { Row } from './btree-page.js';
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
    const source = readTrees(pages, treesOf(pages, sql));
    const found = copyRows(sql, source);
    const lost = countLost(sql);
    sql.of('BEGIN').run();
    closeGaps(sql);
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
  const trees = new Map<number, string>();
  for (const { name, rootpage } of sql.all<{
    name: string;
    rootpage: number;
  }>`SELECT name, rootpage FROM sqlite_schema`) {
    trees.set(rootpage, name);
  }
  const treeNames = new Set(trees.values());
  const treesInFile = new Map<number, string>();
  for (const { root, content } of ownedPages(pages, new Set())) {
    if (root !== 1) continue;
    for (const { values } of content?.rows ?? []) {
      const [, name, , rootpage] = values;
      if (typeof name === 'string' && typeof rootpage === 'number' && treeNames.has(name))
        treesInFile.set(rootpage, name);
    }
  }
  const named = new Set(treesInFile.values());
  for (const [rootpage, name] of trees)
    if (!named.has(name) && !treesInFile.has(rootpage)) treesInFile.set(rootpage, name);
  return treesInFile;
}

/** The rows of each tree, and what is unreadable. */
function* readTrees(
  pages: PageSource,
  trees: ReadonlyMap<number, string>,
): Iterable<{ readonly tree: string; readonly rows: readonly Row[]; readonly unreadable: number | 'page' }> {
  for (const { root, content } of ownedPages(pages, new Set(trees.keys()))) {
    const tree = trees.get(root);
    if (tree === undefined) continue;
    yield { tree, rows: content?.rows ?? [], unreadable: content === null ? 'page' : content.unreadable };
  }
}

/** Tables that are not saved: no node holds a lease of the new file, and robots.txt is fetched again. */
const notSaved = new Set(['node', 'robots', 'sqlite_sequence']);

function copyRows(
  sql: Statements,
  source: ReturnType<typeof readTrees>,
): Pick<Salvaged, 'saved' | 'unreadable'> {
  const names = sql.all<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`.map(
    ({ name }) => name,
  );
  const tables = new Map(
    names.filter((name) => !notSaved.has(name)).map((name) => [name, new SavedTable(sql, name)]),
  );
  sql.connection.exec(indexTables);
  const unreadable = { pages: 0, rows: 0 };
  let left = STEP;
  sql.of('BEGIN').run();
  for (const { tree, rows, unreadable: some } of source) {
    if (some === 'page') unreadable.pages += 1;
    else if (tables.has(tree)) unreadable.rows += some;
    const table = tables.get(tree);
    for (const row of rows) {
      if (table !== undefined) table.add(row);
      else keepIndexEntry(sql, tree, row);
    }
    left -= rows.length;
    if (left > 0) continue;
    sql.of('COMMIT').run();
    sql.of('BEGIN').run();
    left = STEP;
  }
  rebuildFromIndexes(sql);
  sql.of('COMMIT').run();
  const saved = Object.fromEntries(
    [...tables.keys()].map((name) => [
      name,
      (sql.of(`SELECT count(*) AS n FROM ${name}`).get() as { n: number }).n,
    ]),
  );
  for (const { refused } of tables.values()) unreadable.rows += refused;
  return { saved, unreadable };
}

/** Indexes from which lost rows are rebuilt. An entry has the columns of the index and the number of the row. */
const entryOf = {
  request_id: { length: 3, insert: 'INSERT OR IGNORE INTO known_id (space, id, n) VALUES (?, ?, ?)' },
  request_pending: {
    length: 5,
    insert: 'INSERT OR IGNORE INTO known_pending (space, domain, rank, arrival, n) VALUES (?, ?, ?, ?, ?)',
  },
  sqlite_autoindex_space_1: {
    length: 2,
    insert: 'INSERT OR IGNORE INTO known_space (name, id) VALUES (?, ?)',
  },
};

const indexTables = `
  CREATE TEMP TABLE known_id (n INTEGER PRIMARY KEY, space, id);
  CREATE TEMP TABLE known_pending (n INTEGER PRIMARY KEY, space, domain, rank, arrival);
  CREATE TEMP TABLE known_space (id INTEGER PRIMARY KEY, name);
`;

function keepIndexEntry(sql: Statements, index: string, { values }: Row): void {
  const table = entryOf[index as keyof typeof entryOf];
  if (table === undefined || values.length !== table.length) return;
  sql.of(table.insert).run(...values);
}

/**
 * A request whose row is lost becomes pending. The repair takes an unknown domain from the record. Without a record it counts
 * the request as lost, and forgets its fingerprint.
 */
function rebuildFromIndexes(sql: Statements): void {
  sql.run`INSERT OR IGNORE INTO request (n, space, id, state, domain, priority, rank, arrival, crashes, unfiltered)
    SELECT n, known_id.space, id, 'pending', coalesce(domain, ''), -coalesce(rank, 0), coalesce(rank, 0), coalesce(arrival, 0), 0, 0
    FROM known_id LEFT JOIN known_pending USING (n)
    WHERE typeof(known_id.space) = 'integer' AND typeof(id) = 'blob' AND length(id) = 20 AND n NOT IN (SELECT n FROM request)`;
  sql.run`INSERT OR IGNORE INTO space (id, name) SELECT id, name FROM known_space WHERE typeof(name) = 'text'`;
  sql.run`UPDATE space SET is_crawl = 1 WHERE id IN (SELECT space FROM crawl UNION SELECT space FROM tally)`;
}

/** Renumber the items of each outbox, since an outbox must have no gaps. */
function closeGaps(sql: Statements): void {
  const feeds = sql.all<{ space: number; feed: string; written: number }>`
    SELECT space, feed, coalesce(written, 0) AS written FROM feed`;
  for (const { space, feed, written } of feeds) {
    const rows = sql.all<{ n: number }>`
      SELECT n FROM outbox WHERE space = ${space} AND feed = ${feed} AND sequence > ${written} ORDER BY sequence`;
    for (const [nth, { n }] of rows.entries()) {
      sql.run`UPDATE outbox SET sequence = ${written + 1 + nth} WHERE n = ${n}`;
    }
    sql.run`UPDATE feed SET last = ${written + rows.length} WHERE space = ${space} AND feed = ${feed}`;
  }
}

/** Pause each crawl until it is repaired, and raise its epoch so that nodes forget the links they know. @returns the names. */
function pauseCrawls(sql: Statements, shape: FirstShape): string[] {
  const crawls = sql.all<{
    id: number;
    name: string;
  }>`SELECT id, name FROM space WHERE is_crawl = 1 AND name IS NOT NULL`;
  const nowMs = Date.now();
  for (const { id } of crawls) {
    if (sql.get`SELECT 1 FROM crawl WHERE space = ${id}` === undefined) writeNewCrawl(sql, id, shape, nowMs);
    if (sql.get`SELECT 1 FROM tally WHERE space = ${id}` === undefined)
      writeRow(sql, 'tally', newTally(id, nowMs));
  }
  sql.run`UPDATE crawl SET epoch = epoch + 1, repairing = coalesce(repairing, control), control = 'paused'`;
  return crawls.map(({ name }) => name).sort();
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

function removeFile(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
}
