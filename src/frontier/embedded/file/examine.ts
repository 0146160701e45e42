/** The checks of `doctor` for the folder and one crawl. Opening the folder has already checked what would be refused. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { sqliteDriver } from '../../../disk/sqlite.js';
import { byteSize } from '../../../format-amounts.js';
import { dataFormats } from '../../data-format.js';
import { findingsAbout } from '../../findings.js';
import type { Finding } from '../../frontier.js';
import type { Transaction } from '../base/transaction.js';
import { leftovers } from '../care/embedded-care.js';
import { otherFormatOf } from '../nodes/shared-settings.js';
import type { Database } from './database.js';
import { mountType, otherUsers } from './folder.js';
import { fileSize } from './wal.js';

/** Below this a commit may soon fail. */
const LITTLE_SPACE = 512 * 1024 ** 2;
/** Twice what the write-ahead log may take. */
const LEAST_SPACE = 64 * 1024 ** 2;

/** Writers keep the log below this size. A larger log means that a long-running reader prevents its truncation. */
const LARGE_LOG = 128 * 1024 ** 2;

export function examineStore(tx: Transaction, { path, file }: Database): Finding[] {
  const about = findingsAbout('store');
  const crawl = findingsAbout('crawl');
  const { bavail, bsize } = statfsSync(path);
  const type = mountType(path);
  about.ok('local_folder', `${path} is on a local disk${type === '' ? '' : ` (${type})`}`);
  const free = bavail * bsize;
  const room = `${byteSize(free)} free on its disk, ${byteSize(fileSize(file))} in use`;
  const todo = 'make room, or set JOBDIR to another disk: without room no node can commit';
  if (free < Math.max(LEAST_SPACE, fileSize(file))) about.problem('disk_space', room, todo);
  else if (free < LITTLE_SPACE) about.info('disk_space', room, todo);
  else about.ok('disk_space', room);
  const closed = [path, file, `${file}-wal`, `${file}-shm`].filter((each) => !isWritable(each));
  if (closed.length === 0) about.ok('permissions', 'this user may write it');
  else {
    const which = `${closed.join(', ')} cannot be written by this user`;
    about.problem('permissions', which, 'run as the user that owns it, or chown it');
  }
  const users = otherUsers(path);
  const who =
    users === 0 ? 'no other process has it open' : `${users} other processes of this machine have it open`;
  about.ok('processes', who);
  const log = fileSize(`${file}-wal`);
  if (log > LARGE_LOG) {
    about.problem(
      'log_size',
      `the log ${file}-wal has ${byteSize(log)}`,
      'a process reads the database without an end, which keeps it from being emptied: end that, such as a sqlite3 left open',
    );
  } else about.ok('log_size', `${byteSize(log)} of log`);
  const { version } = tx.sql.get<{ version: string }>`SELECT sqlite_version() AS version`!;
  const driver = sqliteDriver() === 'node' ? "Node's own" : 'of @photostructure/sqlite';
  about.ok('sqlite', `SQLite ${version}, ${driver}`);
  const other = otherFormatOf(tx);
  if (other !== null) {
    crawl.problem(
      'format',
      `${tx.spaces.crawl.name} is kept in data format ${other}, this crawlnode reads and writes format ${dataFormats.embedded}`,
      'go on with the version of crawlnode that wrote it, or "crawlnode reset SPIDER" and begin anew',
    );
  } else if (tx.format === null) {
    const left = leftovers(tx);
    if (left.length === 0) crawl.ok('format', 'nothing is stored yet');
    else crawl.problem('record', left.join('; '), 'run "crawlnode doctor SPIDER --repair"');
  } else crawl.ok('format', `data format ${dataFormats.embedded}`);
  return [...about.found, ...crawl.found];
}

/** Also true for a file that does not exist. */
function isWritable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
