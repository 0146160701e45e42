/** What SQLite's errors mean to somebody who crawls, and what to do about each. */
import { CrawlnodeError, DamagedStoreError, FrontierUnavailableError, messageOf } from '../../../errors.js';

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const BUSY = 5;
const LOCKED = 6;
const FULL = 13;
/** The extended code for a full disk when the index of the log is made (SQLITE_IOERR_SHMSIZE). */
const NO_ROOM_FOR_INDEX = 4874;
/** Corrupt, not a database; and what our statements never meet in a sound file: no such table, a broken constraint, a mismatch. */
const [CONSTRAINT, MISMATCH] = [19, 20];
const damaged = new Set([11, 26, 1, CONSTRAINT, MISMATCH]);
const advice: Readonly<Record<number, string>> = {
  3: 'may not be used by this user: run as the user that owns it, or chown it',
  8: 'cannot be written: mount its disk for writing, or run as the user that owns the folder and its files',
  10: 'cannot be read or written (an error of its disk): see to the disk, or set JOBDIR to another one',
  13: 'cannot grow, because the disk is full: make room, and the crawl goes on by itself',
  14: 'cannot be opened: see that the folder is there and that this user may write it',
};

/** Whether another process holds the lock that was asked for: nothing was done, try again. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** The end of every command on a file that cannot be trusted any more. */
export function damagedStore(file: string, why: string, cause?: unknown): DamagedStoreError {
  return new DamagedStoreError(
    `${file} is damaged (${why}): stop all its nodes, keep a copy of the folder, and run "crawlnode doctor SPIDER --repair", which saves what can be read; or delete the folder to begin anew`,
    { cause },
  );
}

/** Another process has held the lock for as long as the caller would wait. */
export function lockedByPeer(file: string, waitedMs: number): FrontierUnavailableError {
  return new FrontierUnavailableError(
    `another process has kept ${file} locked for ${(waitedMs / 1000).toFixed(1)} s: see whether one was stopped in the middle of its work, and let it go on or end it`,
    { code: 'frontier_locked' },
  );
}

/** Rows that contradict each other, as a damaged file may hold them: thrown by verbs, which do not know the file. */
export class ContradictingRows extends Error {}

/** A text that is kept as JSON and is none, an integer beyond what a number holds, or rows that contradict each other. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof RangeError || error instanceof ContradictingRows)
    return true;
  // A value that a column of its type cannot have was computed from one that nobody of us has written.
  if ([CONSTRAINT, MISMATCH].includes(primaryCode(error) ?? 0)) return true;
  // `all` of @photostructure/sqlite 1.2.1 throws it as an error of SQLite.
  return error instanceof Error && error.message.startsWith('Value is too large to be represented');
}

/** An error of the driver as one that the callers know; nothing was written. Others are returned as they are. */
export function asExpected(error: unknown, file: string): unknown {
  if (error instanceof CrawlnodeError) return error;
  const code = primaryCode(error);
  if (isUnreadable(error)) return damagedStore(file, messageOf(error), error);
  if (code === null) return error;
  if (damaged.has(code)) return damagedStore(file, messageOf(error), error);
  if (isBusy(error)) return lockedByPeer(file, 0);
  const why = advice[code] ?? 'could not be used';
  const options = { cause: error, ...(code === FULL && { code: 'disk_full' as const }) };
  return new FrontierUnavailableError(`${file} ${why} (${messageOf(error)})`, options);
}

/** Of errors that come without a code, as those of `all` do in @photostructure/sqlite 1.2.1. */
const codesByMessage: readonly (readonly [start: string, code: number])[] = [
  ['database is locked', BUSY],
  ['database table is locked', LOCKED],
  ['attempt to write a readonly', 8],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['malformed database schema', 11],
  ['database or disk is full', 13],
  ['unable to open', 14],
  ['file is not a database', 26],
];

function primaryCode(error: unknown): number | null {
  const { errcode, sqliteExtendedCode, code } = (error ?? {}) as Readonly<Record<string, unknown>>;
  // Node's own driver has the extended code in `errcode`, the package has it apart.
  if ((sqliteExtendedCode ?? errcode) === NO_ROOM_FOR_INDEX) return FULL;
  if (typeof errcode === 'number') return errcode & 0xff;
  if (code !== 'ERR_SQLITE_ERROR') return null;
  return codesByMessage.find(([start]) => messageOf(error).startsWith(start))?.[1] ?? 1;
}
