/**
 * A feed file, written only from committed items:
 *
 * ```
 * settle ──► outbox in the store ── read ──► file (write, fsync) ── checkpoint ──► dropped from the outbox
 * ```
 *
 * Writes start at the position of the last checkpoint. Bytes that a crash left after it are overwritten, or truncated at
 * the next start, so no line is missing or doubled. While the file cannot be written, its items stay in the outbox and
 * `failing` gives the reason. Writing continues as soon as it is possible.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlnodeError, FrontierUnavailableError, messageOf } from '../errors.js';
import type { FeedCheckpoint, FeedWriter, Outbox } from '../feed.js';
import type { Logger } from '../log.js';
import { FeedDisk } from './feed-disk.js';
import { type FeedFormat, type FeedFormatName, feedFormats } from './feed-format.js';

export interface FeedOptions {
  readonly feeds: Outbox;
  readonly writer: FeedWriter;
  /** Absolute. */
  readonly path: string;
  readonly format: FeedFormatName;
  /** `-O`: empty the file first, unless the job has written to it before. Otherwise, as with `-o`, append to it. */
  readonly overwrite: boolean;
  /** With `overwrite`: empty even a file that the job has written to, unless items wait for it. */
  readonly anew?: boolean;
  /** A writer that has not renewed its claim for this long may be replaced. */
  readonly staleMs: number;
  readonly log: Logger;
}

const BATCH = 1_000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;
const MAX_BACKOFF_MS = 5_000;

/**
 * Become the only writer of a feed file and restore the file to its last checkpoint.
 * @throws CrawlnodeError `feed_unwritable`, or `feed_changed` when the file is shorter than what was written to it;
 *   UsageError when the format cannot be appended to this file; RefusedError when another process writes it.
 */
export async function openFeedWriter(options: FeedOptions): Promise<FeedFile> {
  const { feeds, writer, path, staleMs, log } = options;
  const format = feedFormats[options.format];
  // The file is opened first, so that an unwritable file leaves no claim that blocks other writers until it is stale.
  const disk = await FeedDisk.open(path);
  try {
    const { anew = false, overwrite: overwrites } = options;
    const stored = await feeds.open(writer, { staleMs, anew, overwrites });
    if (stored === null) {
      const begun = options.overwrite ? await disk.begin(format) : await disk.adopt(format);
      const checkpoint = { sequence: 0, ...begun };
      // Recorded before the first item is written, so that a restart can tell existing content from that of this job.
      await feeds.checkpoint(writer, checkpoint);
      return new FeedFile(options, format, disk, checkpoint);
    }
    await disk.restore(stored.lengthBytes, format);
    if (options.overwrite) {
      log.info(
        { file: path, items: stored.sequence },
        '-O does not empty the file, because this job has written to it before; reset the job to start with an empty file',
      );
    }
    return new FeedFile(options, format, disk, stored);
  } catch (error) {
    await disk.close();
    throw error;
  }
}

/** An open feed file. Use `run` for as long as the crawl lasts, or `drain` for what waits now. */
export class FeedFile {
  readonly #options: FeedOptions;
  readonly #format: FeedFormat;
  readonly #disk: FeedDisk;
  /** The checkpoint when this writer opened the file. */
  readonly #initial: FeedCheckpoint;
  #written: FeedCheckpoint;
  /** The checkpoint of bytes on disk that the store may not have recorded yet. */
  #unconfirmed: FeedCheckpoint | null = null;
  #confirmedAt = performance.now();
  #failing: string | null = null;
  #warnedOfDropped = false;

  constructor(options: FeedOptions, format: FeedFormat, disk: FeedDisk, written: FeedCheckpoint) {
    this.#options = options;
    this.#format = format;
    this.#disk = disk;
    this.#initial = written;
    this.#written = written;
  }

  /** Why the file cannot be written at the moment; null when it can. */
  get failing(): string | null {
    return this.#failing;
  }

  /** Items written since the feed's first. */
  get items(): number {
    return this.#written.sequence;
  }

  /**
   * Write all waiting items. @returns their number.
   * @throws CrawlnodeError `feed_unwritable`; the items stay in the outbox for a later call.
   */
  async drain(): Promise<number> {
    try {
      return await this.#drain();
    } catch (error) {
      if (!isRolledBack(error)) throw error;
      await this.#rollBack();
      return this.#drain();
    }
  }

  async #drain(): Promise<number> {
    let count = 0;
    for (;;) {
      // When the reply to a checkpoint was lost, the store may already have deleted items: confirm it before reading.
      await this.#confirm();
      const items = await this.#options.feeds.read(this.#options.writer.feed, this.#written.sequence, BATCH);
      if (items.length === 0) {
        this.#setFailing(null);
        return count;
      }
      await this.#append(items);
      count += items.length;
    }
  }

  /**
   * Drain until aborted, and once more after the abort. A failing file or store is retried with backoff. After the return,
   * `failing` says whether items remain.
   * @throws RefusedError when another process has taken the feed over, FrontierGoneError when the records of the crawl were deleted.
   */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = MIN_POLL_MS;
    for (;;) {
      const isLast = signal.aborted;
      const count = await this.#tryDrain(isLast);
      if (isLast) return;
      if (count === null) pauseMs = Math.min(pauseMs * 2, MAX_BACKOFF_MS);
      else pauseMs = count > 0 ? MIN_POLL_MS : Math.min(pauseMs * 2, MAX_POLL_MS);
      await this.#renew();
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Release the feed. Waiting items stay in the outbox. `exported`: an export to the file is complete. */
  async close(how: { readonly exported?: boolean } = {}): Promise<void> {
    try {
      if (this.#failing !== null) await this.#truncateToCheckpoint();
      await this.#options.feeds.release(this.#options.writer, how);
    } finally {
      await this.#disk.close();
    }
  }

  /**
   * Remove the rest of a failed write. If this fails too, the next start does it. Unconfirmed bytes on disk stay, because
   * the store may have recorded their checkpoint.
   */
  async #truncateToCheckpoint(): Promise<void> {
    const { lengthBytes } = this.#unconfirmed ?? this.#written;
    await this.#disk.restore(lengthBytes, this.#format).catch(() => {});
  }

  /** @returns the number of items written, or null after a temporary failure. */
  async #tryDrain(isLast: boolean): Promise<number | null> {
    try {
      return await this.drain();
    } catch (error) {
      if (error instanceof FrontierUnavailableError) {
        // While the crawl runs, the engine reports an outage. After it, only this writer knows that items remain.
        if (isLast) this.#setFailing(new Error(`${this.#options.path} may lack items: ${error.message}`));
        return null;
      }
      if (error instanceof CrawlnodeError && error.code === 'feed_unwritable') return null;
      throw error;
    }
  }

  async #append(items: readonly string[]): Promise<void> {
    const { lengthBytes, sequence } = this.#written;
    const { text, header, dropped } = this.#format.render(items, this.#written);
    if (dropped.length > 0) this.#warnOfDropped(dropped);
    const bytes = Buffer.from(text);
    try {
      await this.#disk.write(Buffer.concat([bytes, Buffer.from(this.#format.closing)]), lengthBytes);
    } catch (error) {
      this.#setFailing(error);
      throw error;
    }
    this.#setFailing(null);
    this.#unconfirmed = {
      sequence: sequence + items.length,
      lengthBytes: lengthBytes + bytes.length,
      header,
    };
    await this.#confirm();
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed === null) return;
    const { feeds, writer } = this.#options;
    await feeds.checkpoint(writer, this.#unconfirmed, this.#written.sequence);
    this.#written = this.#unconfirmed;
    this.#unconfirmed = null;
    this.#confirmedAt = performance.now();
  }

  /**
   * Return to the checkpoint of the store after the store was restored from an older copy. The crawl repeats the lost
   * pages and commits their items again, so the file is truncated to avoid double or missing items. When the crawl was
   * flushed as this node joined, a file with `overwrite` is emptied instead.
   */
  async #rollBack(): Promise<void> {
    const { feeds, writer, path, overwrite, staleMs, log } = this.#options;
    const stored = await feeds.open(writer, { staleMs, overwrites: overwrite });
    const from = this.#written.sequence;
    if (stored === null && overwrite) {
      this.#written = { sequence: 0, ...(await this.#disk.begin(this.#format)) };
    } else {
      this.#written = stored ?? { ...this.#initial, sequence: 0 };
      await this.#disk.restore(this.#written.lengthBytes, this.#format);
    }
    this.#unconfirmed = stored === null ? this.#written : null;
    log.warn(
      { file: path, from, to: this.#written.sequence },
      stored === null && overwrite
        ? 'the crawl was flushed, so its file is emptied'
        : 'the store is older than the file, so the file is truncated to the checkpoint of the store',
    );
  }

  /** Renew the claim of the writer while there is nothing to write, or while the file cannot be written. */
  async #renew(): Promise<void> {
    if (performance.now() - this.#confirmedAt < this.#options.staleMs / 4) return;
    this.#unconfirmed ??= this.#written;
    try {
      await this.#confirm();
    } catch (error) {
      // The next drain handles a rolled-back store.
      if (!(error instanceof FrontierUnavailableError) && !isRolledBack(error)) throw error;
    }
  }

  /** Log the first failure and the recovery, not each attempt. */
  #setFailing(error: unknown): void {
    const { path, log } = this.#options;
    const previous = this.#failing;
    this.#failing = error === null ? null : messageOf(error);
    if (previous === null && this.#failing !== null) {
      log.error({ file: path }, `${this.#failing}; committed items wait in the store until it can`);
    }
    if (previous !== null && this.#failing === null)
      log.info({ file: path }, 'the file can be written again');
  }

  #warnOfDropped(fields: readonly string[]): void {
    if (this.#warnedOfDropped) return;
    this.#warnedOfDropped = true;
    const { path, log } = this.#options;
    log.warn(
      { file: path, fields },
      "Some items have fields without a column; the first item's fields are the columns",
    );
  }
}

function isRolledBack(error: unknown): boolean {
  return error instanceof CrawlnodeError && error.code === 'feed_rolled_back';
}
