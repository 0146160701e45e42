/**
 * The write-ahead log, frontier.db-wal: brought to the disk each second, and kept small.
 *
 * Commits go to the log without waiting for the disk (`synchronous = NORMAL`), and SQLite syncs the log when it is
 * checkpointed only. So it is synced here each second: a power cut costs at most the last second, and always leaves a
 * consistent earlier state.
 *
 * The log is opened through `fs` for this. That is safe: SQLite's locks are on the database file and on the -shm file.
 * The database file itself is never opened so: closing any descriptor of it drops the locks of the whole process.
 */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Connection } from '../../../disk/sqlite.js';
import type { Statements } from './statements.js';

/** Less than a second, so that what is written just after a sync waits at most 1.2 s for the next one to end. */
const SYNC_MS = 800;

/** Beyond this a checkpoint comes in place of a commit: four saturated writers never leave the log alone otherwise. */
const LARGE_BYTES = 32 * 1024 * 1024;

/** The database file of a folder. */
export const fileIn = (dir: string): string => join(resolve(dir), 'frontier.db');

/** Its log. */
export const walIn = (dir: string): string => `${fileIn(dir)}-wal`;

/**
 * Sync the log each second, from the thread pool. The timer never keeps a process alive.
 * @returns a function that syncs once more, and no more after that.
 */
export function syncEachSecond(wal: string): () => Promise<void> {
  let syncedAtMs = 0;
  let underWay: Promise<void> = Promise.resolve();
  const sync = (): Promise<void> => {
    underWay = underWay.then(async () => {
      const startedAtMs = Date.now();
      if (changedAtMs(wal) < syncedAtMs) return;
      // The clock of a file system is a few ms coarse. A sync that failed is tried again.
      if (await syncFile(wal)) syncedAtMs = startedAtMs - 100;
    });
    return underWay;
  };
  const timer = setInterval(() => void sync(), SYNC_MS).unref();
  return () => {
    clearInterval(timer);
    return sync();
  };
}

/**
 * Checkpoint the log when it is large, and cut it to nothing.
 * @returns whether that took the place of a commit.
 */
export function checkpointWhenLarge(file: string, { connection }: Statements): boolean {
  if (fileSize(`${file}-wal`) < LARGE_BYTES) return false;
  checkpoint(connection);
  return true;
}

/** Copy what the log holds into the database file and cut the log to nothing; where other processes use it, as far as may be. */
export function checkpoint(connection: Connection): void {
  connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
}

/** @returns whether it is on the disk. Without a log there is nothing to sync; what is wrong with the disk, the next commit says. */
async function syncFile(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'r+');
    try {
      await handle.datasync();
      return true;
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}

/** In bytes; 0 where there is no such file. */
export const fileSize = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

const changedAtMs = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
