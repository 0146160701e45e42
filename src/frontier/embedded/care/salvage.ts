/**
 * Saves what SQLite can read of a damaged file into a new one. The damaged file is copied aside first. The saved counters may
 * be wrong, so each crawl stays paused until it is repaired, which rebuilds its requests from their records and counts what is
 * missing.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { connect } from '../../../disk/sqlite.js';
import { RefusedError } from '../../../errors.js';
import type { Salvaged } from '../../open-options.js';
import { type FirstShape, newTally, writeNewCrawl } from '../base/crawl-row.js';
import { nameCrawls } from '../base/nameless-spaces.js';
import { mendTables } from '../base/unreadable-values.js';
import { createFile, removeFile } from '../file/database.js';
import { enterFolder, otherUsers } from '../file/folder.js';
import { writeRow } from '../file/rows.js';
import { Statements } from '../file/statements.js';
import { fileIn } from '../file/wal.js';
import { copyTable } from './readable-rows.js';

/** @throws RefusedError while other processes have the folder open, unless forced. */
export function salvage(dir: string, shape: FirstShape, force: boolean): Salvaged {
  const folder = enterFolder(dir);
  const file = fileIn(dir);
  const fresh = `${file}.${process.pid}.new`;
  const work = `${file}.${process.pid}.read`;
  try {
    const users = otherUsers(dir);
    if (users > 0 && !force) throw inUse(file, users);
    const damagedFile = `${file}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    copyWithLog(file, damagedFile);
    for (const each of [fresh, work]) removeFile(each);
    createFile(fresh);
    // SQLite writes to what it opens, if only to take in its log.
    copyWithLog(damagedFile, work);
    const saved = saveInto(fresh, work, shape);
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    renameSync(fresh, file);
    return { ...saved, damagedFile };
  } finally {
    for (const each of [fresh, work]) removeFile(each);
    folder.release();
  }
}

function saveInto(fresh: string, work: string, shape: FirstShape): Omit<Salvaged, 'damagedFile'> {
  const connection = connect(fresh);
  try {
    const sql = new Statements(connection);
    connection.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = OFF');
    const isOpen = attach(sql, work) || attach(sql, withHeader(work, fresh));
    const tables = tablesOf(sql);
    const unreadable = isOpen ? tables.filter((table) => !copyTable(sql, table)) : tables;
    sql.of('BEGIN').run();
    for (const useless of unusable) sql.of(useless).run();
    mendTables(sql);
    const saved = tables.map((name) => [name, sql.column<number>(`SELECT count(*) FROM main.${name}`)[0]!]);
    const crawls = pauseCrawls(sql, shape);
    sql.of('COMMIT').run();
    // Everything must be in the file itself: the log is not renamed with it.
    sql.of('PRAGMA main.wal_checkpoint(TRUNCATE)').all();
    return { saved: Object.fromEntries(saved), unreadable, ...crawls };
  } finally {
    connection.close();
  }
}

/** Attach the damaged file as `damaged`. @returns whether it can be read at all. */
function attach(sql: Statements, work: string): boolean {
  rmSync(`${work}-shm`, { force: true });
  try {
    sql.of('ATTACH ? AS damaged').run(work);
  } catch {
    return false;
  }
  try {
    if (sql.column<number>('SELECT count(*) FROM damaged.sqlite_schema')[0]! > 0) return true;
  } catch {
    // Its list of tables cannot be read.
  }
  sql.connection.exec('DETACH damaged');
  return false;
}

const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
/** Where the header of a database holds these (https://sqlite.org/fileformat.html). */
const [CHANGES_AT, PAGE_COUNT_AT, FREELIST_AT, COUNTED_AT] = [24, 28, 32, 92];

/** Write the header of a new file, with as many pages as there are and none of them free. @returns the file */
function withHeader(work: string, fresh: string): string {
  const header = readFileSync(fresh).subarray(0, HEADER_BYTES);
  const file = openSync(work, 'r+');
  try {
    header.writeUInt32BE(Math.floor(fstatSync(file).size / PAGE_BYTES), PAGE_COUNT_AT);
    header.copy(header, COUNTED_AT, CHANGES_AT, CHANGES_AT + 4);
    header.fill(0, FREELIST_AT, FREELIST_AT + 8);
    writeSync(file, header, 0, HEADER_BYTES, 0);
    return work;
  } finally {
    closeSync(file);
  }
}

/** But `node` and `robots`: no node holds a lease of the new file, and robots.txt is fetched again. */
function tablesOf(sql: Statements): string[] {
  return sql.column<string>(
    `SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('node', 'robots')
     ORDER BY name <> 'space'`,
  );
}

/** Rows of requests that cannot be told apart. Other values that no verb has written are mended. */
const unusable: readonly string[] = [
  'DELETE FROM main.request WHERE length(id) <> 20',
  'DELETE FROM main.record WHERE length(id) <> 20 OR NOT json_valid(text)',
  'DELETE FROM main.dupefilter WHERE NOT json_valid(choice)',
  'DELETE FROM main.bad_seed WHERE NOT json_valid(entry)',
];

/** Pause each crawl until it is repaired, and raise its epoch so that nodes forget the links they know. */
function pauseCrawls(sql: Statements, shape: FirstShape): Pick<Salvaged, 'crawls' | 'lost'> {
  nameCrawls(sql);
  // Its name may be lost while its rows are there, or the other way round.
  sql.run`UPDATE space SET is_crawl = 1 WHERE id IN (SELECT space FROM crawl UNION SELECT space FROM tally)`;
  const crawls = sql.all<{ id: number; name: string }>`
    SELECT id, name FROM main.space WHERE is_crawl = 1 AND name IS NOT NULL ORDER BY name`;
  const lost =
    crawls.length > 0 ? [] : ['everything that it held: not even the names of its crawls could be read'];
  const nowMs = Date.now();
  for (const crawl of crawls) {
    const lacks = (table: string) =>
      sql.column(`SELECT 1 FROM ${table} WHERE space = ?`, crawl.id).length === 0;
    if (lacks('crawl')) {
      lost.push(`${crawl.name}: what its nodes agreed on, and how its run stood`);
      writeNewCrawl(sql, crawl, shape, nowMs);
    }
    if (lacks('tally')) {
      lost.push(`${crawl.name}: its counters, so that lost requests cannot be counted`);
      writeRow(sql, 'tally', newTally(crawl.id, nowMs));
    }
  }
  sql.run`UPDATE main.crawl SET epoch = epoch + 1, repairing = coalesce(repairing, control), control = 'paused'`;
  return { crawls: crawls.map(({ name }) => name), lost };
}

/** Where the file system can, the copy shares its blocks. */
function copyWithLog(from: string, to: string): void {
  for (const end of ['', '-wal'])
    if (existsSync(from + end)) copyFileSync(from + end, to + end, constants.COPYFILE_FICLONE);
}

function inUse(file: string, users: number): RefusedError {
  const others = users === 1 ? 'another process has' : `${users} other processes have`;
  return new RefusedError(
    `${others} ${file} open, and would go on with the damaged file: end them first ("crawlnode stop SPIDER", or the processes named in the folder "users" beside it)`,
    { code: 'live_nodes' },
  );
}
