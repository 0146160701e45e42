/**
 * A lock, so that only one process at a time writes a file of items, whatever crawl, store, path or link it uses. The lock
 * belongs to the file itself, by device and inode. It is an exclusive transaction of an empty SQLite file in the user's
 * state folder: the operating system releases it when the process ends, and a file system without locks reports an error.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { privateFolder } from '../../disk/private-folder.js';
import { type Connection, connect } from '../../disk/sqlite.js';
import { FeedHeldError, messageOf } from '../../errors.js';

/** What identifies a file: `stat` with bigint. */
export interface FileIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** The holder of a lock, for the message to the next process. */
export interface Holder {
  readonly pid: number;
  /** Names the crawl that writes the file. */
  readonly crawl: string;
  /** It only writes what a dead node left. */
  readonly restOnly: boolean;
}

/** SQLite's result code for a lock that somebody else holds (https://sqlite.org/rescode.html#busy). */
const BUSY = 5;

/** A lock that is held until `release`, or until the process ends. */
export interface FeedLock {
  release(): void;
}

/**
 * Lock a file of items for this process.
 * @param folder of the locks, this user's own
 * @param file its path, for the message
 * @param self what the next one is told
 * @returns null where locks cannot be held: the folder is not safe, or its file system cannot lock
 * @throws FeedHeldError while another writer holds it
 */
export function lockFeed(
  folder: string,
  { dev, ino }: FileIdentity,
  file: string,
  self: Omit<Holder, 'pid'>,
): FeedLock | null {
  const safe = privateFolder(folder);
  if (safe === null) return null;
  const base = path.join(safe, `${dev}-${ino}`);
  const holderFile = `${base}.json`;
  let connection: Connection | null = null;
  try {
    // SQLite would create the file with the permissions of the umask.
    closeSync(openSync(`${base}.lock`, 'a', 0o600));
    connection = connect(`${base}.lock`);
    connection.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    writePrivateFile(holderFile, JSON.stringify({ pid: process.pid, ...self } satisfies Holder));
  } catch (error) {
    connection?.close();
    if (isBusy(error)) throw heldBy(file, holderOf(holderFile));
    return null;
  }
  const held = connection;
  return {
    release() {
      rmSync(holderFile, { force: true });
      held.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number'
    ? (errcode & 0xff) === BUSY
    : messageOf(error).startsWith('database is locked');
}

function holderOf(holderFile: string): Holder | null {
  try {
    return JSON.parse(readPrivateFile(holderFile)?.toString() ?? 'null') as Holder | null;
  } catch {
    return null;
  }
}

function heldBy(file: string, known: Holder | null): FeedHeldError {
  const holder = known === null ? 'another process' : `process ${known.pid} (${known.crawl})`;
  return new FeedHeldError(
    `${file} is being written by ${holder}: give this crawl another file, or stop the other writer`,
    { holder, isBrief: known?.restOnly ?? null },
  );
}
