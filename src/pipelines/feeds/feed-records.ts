/**
 * Records which parts of feed files the crawls of this user have written, in a folder that only this user can write to. The
 * store is trusted with items, but not with file names. Items of a dead node are written only to a file that a record, the
 * settings or the command line names. Only a part that a record or the outbox itself proves to be crawlnode's own is cut
 * off.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { privateFolder } from '../../disk/private-folder.js';
import { type FeedLock, type FileIdentity, lockFeed } from './feed-lock.js';
import type { FeedDescription } from './formats/feed-format.js';

/** The part of a file that one crawl has written. */
export interface FeedRecord extends FeedDescription {
  /** Where the crawl's first item begins, after earlier content of the file. */
  readonly beginBytes: number;
  /** The end of the last write, at most. */
  readonly endBytes: number;
  /** Of a feed in several files: its path with `%(batch_id)d`. */
  readonly template?: string;
}

/** Each record is a file. It is removed when its feed file was not written for this time. */
const FORGET_AFTER_MS = 365 * 24 * 60 * 60 * 1_000;

/** The folder of the locks, among the records. */
const LOCKS = 'locks';

/** The records of one crawl. */
export class FeedRecords {
  readonly #folder: string | null;
  readonly #crawl: string;

  /**
   * @param folder made for this user alone; null: nothing is recorded
   * @param crawl names the crawl in the store: its requests key
   */
  constructor(folder: string | null, crawl: string) {
    this.#folder = folder === null ? null : privateFolder(folder);
    this.#crawl = crawl;
  }

  /** The record of a feed; null without one, and when another user could have written it. */
  find(feed: string): FeedRecord | null {
    if (this.#folder === null) return null;
    const bytes = readPrivateFile(this.#fileOf(this.#folder, feed));
    if (bytes === null) return null;
    try {
      return JSON.parse(bytes.toString()) as FeedRecord;
    } catch {
      return null;
    }
  }

  /** Record the end of the next write. If the record cannot be written, a restart is only more careful. */
  save(feed: string, record: FeedRecord): void {
    if (this.#folder === null) return;
    const file = this.#fileOf(this.#folder, feed);
    try {
      writePrivateFile(file, JSON.stringify(record));
    } catch {
      rmSync(file, { force: true });
    }
  }

  /**
   * Lock a file for this process, against other crawls of this user too.
   * @param file its path, for the message
   * @param restOnly the writer only writes what a dead node left
   * @returns null where no lock can be held
   * @throws FeedHeldError while another writer holds it
   */
  lock(identity: FileIdentity, file: string, restOnly: boolean): FeedLock | null {
    if (this.#folder === null) return null;
    return lockFeed(path.join(this.#folder, LOCKS), identity, file, { crawl: this.#crawl, restOnly });
  }

  /** Remove old records. A lock file is created again when it is needed. */
  forgetOld(): void {
    if (this.#folder === null) return;
    forgetOldFiles(this.#folder);
    forgetOldFiles(path.join(this.#folder, LOCKS));
  }

  /** The file name contains only a hash of the data from the store. */
  #fileOf(folder: string, feed: string): string {
    const hash = createHash('sha256').update(JSON.stringify([this.#crawl, feed]));
    return path.join(folder, `${hash.digest('hex').slice(0, 32)}.json`);
  }
}

function forgetOldFiles(folder: string): void {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    if (!entry.isFile()) continue;
    const file = path.join(folder, entry.name);
    const writtenAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - writtenAtMs > FORGET_AFTER_MS) rmSync(file, { force: true });
  }
}

/** For a writer whose files no other process continues. */
export const noRecords = new FeedRecords(null, '');
