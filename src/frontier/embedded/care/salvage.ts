/**
 * Saves what SQLite can read of a damaged file into a new one. The damaged file is copied aside first. The saved counters may
 * be wrong, so each crawl stays paused until it is repaired, which rebuilds its requests from their records.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { connect } from '../../../disk/sqlite.js';
import { RefusedError } from '../../../errors.js';
import type { Salvaged } from '../../open-options.js';
import { type FirstShape, newTally, writeNewCrawl } from '../crawl/crawl-row.js';
import { closeGaps } from '../feeds/damaged-outboxes.js';
import { createFile, removeFile } from '../file/database.js';
import { enterFolder, otherUsers } from '../file/folder.js';
import { writeRow } from '../file/rows.js';
import { Statements } from '../file/statements.js';
import { fileIn } from '../file/wal.js';
import { countLost } from './count-lost.js';
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
    const damagedFile = copyAside(file);
    for (const each of [fresh, work]) removeFile(each);
    createFile(fresh);
    // SQLite writes to what it opens, if only to take in its log.
    for (const end of ['', '-wal']) copyIfThere(`${damagedFile}${end}`, `${work}${end}`);
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
    const found = attach(sql, work, fresh) ? copyRows(sql) : { saved: {}, unreadable: tablesOf(sql) };
    const lost = countLost(sql);
    sql.of('BEGIN').run();
    for (const space of sql.column<number>('SELECT DISTINCT space FROM outbox UNION SELECT space FROM feed'))
      closeGaps(sql, space);
    const crawls = pauseCrawls(sql, shape);
    sql.of('COMMIT').run();
    // Everything must be in the file itself: the log is not renamed with it.
    sql.of('PRAGMA main.wal_checkpoint(TRUNCATE)').all();
    return { ...found, lost, crawls };
  } finally {
    connection.close();
  }
}

/**
 * Attach the damaged file as `damaged`: as it is, else with a header like that of a new file, else with the schema of a new file,
 * whose tables begin at the same pages.
 * @returns whether it can be read at all.
 */
function attach(sql: Statements, work: string, fresh: string): boolean {
  if (canAttach(sql, work)) return true;
  const model = readFileSync(fresh);
  const file = openSync(work, 'r+');
  try {
    putHeader(file, model);
    if (canAttach(sql, work)) return true;
    const roots = new Set(sql.column<number>('SELECT rootpage FROM main.sqlite_schema'));
    for (let page = 1; page * PAGE_BYTES <= model.length; page += 1) {
      const at = (page - 1) * PAGE_BYTES;
      if (page !== PAGE_OF_PAGES && !roots.has(page)) writeSync(file, model, at, PAGE_BYTES, at);
    }
    ftruncateSync(file, Math.max(Math.ceil(fstatSync(file).size / PAGE_BYTES) * PAGE_BYTES, model.length));
    putHeader(file, model);
    return canAttach(sql, work);
  } finally {
    closeSync(file);
  }
}

function canAttach(sql: Statements, work: string): boolean {
  rmSync(`${work}-shm`, { force: true });
  try {
    sql.of('ATTACH ? AS damaged').run(work);
  } catch {
    return false;
  }
  try {
    return sql.column<number>('SELECT count(*) FROM damaged.sqlite_schema')[0]! > 0;
  } catch {
    sql.connection.exec('DETACH damaged');
    return false;
  }
}

const PAGE_BYTES = 4096;
/** The map of which page belongs to which table, which reading does not need. */
const PAGE_OF_PAGES = 2;
const HEADER_BYTES = 100;
/** Where the header of a database holds these (https://sqlite.org/fileformat.html). */
const [CHANGES_AT, PAGE_COUNT_AT, FREELIST_AT, COUNTED_AT] = [24, 28, 32, 92];

/** Write the header of a new file, with as many pages as there are and none of them free. */
function putHeader(file: number, model: Buffer): void {
  const header = Buffer.from(model.subarray(0, HEADER_BYTES));
  header.writeUInt32BE(Math.floor(fstatSync(file).size / PAGE_BYTES), PAGE_COUNT_AT);
  header.copy(header, COUNTED_AT, CHANGES_AT, CHANGES_AT + 4);
  header.fill(0, FREELIST_AT, FREELIST_AT + 8);
  writeSync(file, header, 0, HEADER_BYTES, 0);
}

/** Tables that are not saved: no node holds a lease of the new file, and robots.txt is fetched again. */
const notSaved = new Set(['node', 'robots']);

function tablesOf(sql: Statements): string[] {
  const names = sql.column<string>(
    `SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name <> 'space'`,
  );
  return names.filter((name) => !notSaved.has(name));
}

/** Copy what can be read of each table, and delete what no verb could use. */
function copyRows(sql: Statements): Pick<Salvaged, 'saved' | 'unreadable'> {
  const tables = tablesOf(sql);
  const unreadable = tables.filter((table) => !copyTable(sql, table));
  for (const useless of unusable) sql.of(useless).run();
  // Its name may be lost while its rows are there, or the other way round.
  sql.run`UPDATE space SET is_crawl = 1 WHERE id IN (SELECT space FROM crawl UNION SELECT space FROM tally)`;
  const saved = tables.map((name) => [name, sql.column<number>(`SELECT count(*) FROM main.${name}`)[0]!]);
  return { saved: Object.fromEntries(saved), unreadable };
}

/** Rows that SQLite reads, and that hold what no verb has written. */
const unusable: readonly string[] = [
  `DELETE FROM main.request WHERE length(id) <> 20 OR state NOT IN ('pending', 'suspect', 'delayed', 'leased', 'failed')`,
  ...[
    'record.text',
    'crawl.tunables',
    'crawl.starts',
    'dupefilter.choice',
    'bad_seed.entry',
    'cookie_set.cookies',
  ].map(notJson),
  `DELETE FROM main.record WHERE length(id) <> 20 OR arrived < 0`,
  `DELETE FROM main.crawl WHERE NOT json_valid(coalesce(shape, '{}')) OR NOT json_valid(coalesce(dupefilter, '{}'))
     OR NOT json_valid(coalesce(run, '{}'))`,
];

function notJson(place: string): string {
  const [table, column] = place.split('.');
  return `DELETE FROM main.${table} WHERE NOT json_valid(${column})`;
}

/** Pause each crawl until it is repaired, and raise its epoch so that nodes forget the links they know. @returns the names. */
function pauseCrawls(sql: Statements, shape: FirstShape): string[] {
  const crawls = `FROM main.space WHERE is_crawl = 1 AND name IS NOT NULL`;
  const without = (table: string) =>
    sql.column<number>(`SELECT id ${crawls} AND id NOT IN (SELECT space FROM main.${table})`);
  const nowMs = Date.now();
  for (const id of without('crawl')) writeNewCrawl(sql, id, shape, nowMs);
  for (const id of without('tally')) writeRow(sql, 'tally', newTally(id, nowMs));
  sql.run`UPDATE main.crawl SET epoch = epoch + 1, repairing = coalesce(repairing, control), control = 'paused'`;
  return sql.column(`SELECT name ${crawls} ORDER BY name`);
}

function copyAside(file: string): string {
  const aside = `${file}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  for (const end of ['', '-wal']) copyIfThere(`${file}${end}`, `${aside}${end}`);
  return aside;
}

/** Where the file system can, the copy shares its blocks. */
function copyIfThere(from: string, to: string): void {
  if (existsSync(from)) copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

function inUse(file: string, users: number): RefusedError {
  const others = users === 1 ? 'another process has' : `${users} other processes have`;
  return new RefusedError(
    `${others} ${file} open, and would go on with the damaged file: end them first ("crawlnode stop SPIDER", or the processes named in the folder "users" beside it)`,
    { code: 'live_nodes' },
  );
}
