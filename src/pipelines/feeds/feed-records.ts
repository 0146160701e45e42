/**
 * What this user's own crawls have written to feed files, recorded where nobody else can write. The store is trusted with
 * items, not with names of files: what a dead node left is written only to a file that a record, the settings or the command
 * line name, and only what a record (or the outbox itself) shows to be crawlnode's own is cut off.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';
import { privateFolder } from '../../disk/private-folder.js';
import { type FeedLock, type FileIdentity, lockFeed } from './feed-lock.js';
import type { FeedFormatName, FeedLayout } from './formats/feed-format.js';

/** The part of a file that one crawl has written. */
export interface FeedRecord extends FeedLayout {
  /** Absolute. */
  readonly path: string;
  readonly format: FeedFormatName;
  /** Where the crawl's first item stands, behind what was in the file before. */
  readonly beginBytes: number;
  /** The file was written no further than to here. */
  readonly endBytes: number;
  /** `store_empty` of the feed in FEEDS. */
  readonly storeEmpty?: boolean;
  /** Of a feed in several files: its path with `%(batch_id)d`, and `batch_item_count`. */
  readonly template?: string;
  readonly batchItems?: number;
  /** `item_filter`: the path of its module. */
  readonly itemFilter?: string | null;
}

/** A record is one file; that of a file that nobody has written to for so long is removed. */
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

  /** What is recorded of a feed; null for none, and where anybody else could have written it. */
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

  /** Record how far a feed is about to be written. A record that cannot be written only makes a restart more careful. */
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

  /** Remove records that are long out of use. The lock of a file that nobody writes is remade when it is needed. */
  forgetOld(): void {
    if (this.#folder === null) return;
    forgetOldFiles(this.#folder);
    forgetOldFiles(path.join(this.#folder, LOCKS));
  }

  /** The name holds nothing of what the store says but its hash. */
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

/** For a writer whose files nobody but it goes on with. */
export const noRecords = new FeedRecords(null, '');
