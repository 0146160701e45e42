/**
 * What this user's own crawls have written to feed files, recorded where nobody else can write. The store is trusted with
 * items, not with names of files: what a dead node left is written only to a file that a record, the settings or the command
 * line name, and only what a record (or the outbox itself) shows to be crawlnode's own is cut off.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPrivateFile, writePrivateFile } from '../private-file.js';
import { privateFolder } from '../private-folder.js';
import type { FeedFormatName } from './feed-format.js';

/** The part of a file that one crawl has written. */
export interface FeedRecord {
  /** Absolute. */
  readonly path: string;
  readonly format: FeedFormatName;
  /** Where the crawl's first item stands, behind what was in the file before. */
  readonly beginBytes: number;
  /** The file was written no further than to here. */
  readonly endBytes: number;
  /** The option of the feed in FEEDS. */
  readonly escapeFormulas: boolean;
}

/** A record is one file; that of a file that nobody has written to for so long is removed. */
const FORGET_AFTER_MS = 365 * 24 * 60 * 60 * 1_000;

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

  /** Remove records that are long out of use. */
  forgetOld(): void {
    if (this.#folder === null) return;
    for (const name of readdirSync(this.#folder)) {
      const file = path.join(this.#folder, name);
      const writtenAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - writtenAtMs > FORGET_AFTER_MS) rmSync(file, { force: true });
    }
  }

  /** The name holds nothing of what the store says but its hash. */
  #fileOf(folder: string, feed: string): string {
    const hash = createHash('sha256').update(JSON.stringify([this.#crawl, feed]));
    return path.join(folder, `${hash.digest('hex').slice(0, 32)}.json`);
  }
}

/** For a writer whose files nobody but it goes on with. */
export const noRecords = new FeedRecords(null, '');
