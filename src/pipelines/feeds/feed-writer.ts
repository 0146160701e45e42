/**
 * A feed file, written only from committed items:
 *
 * ```
 * settle ──► outbox in the store ── read ──► file (write, fsync) ── checkpoint ──► dropped from the outbox
 * ```
 *
 * Writes go to the position of the last checkpoint, so whatever a crash left behind it is overwritten or, at the
 * next start, cut off: neither a missing nor a double line. A file that cannot be written leaves its items in the
 * outbox; `failing` says why, and writing goes on when it can.
 */
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlnodeError, FrontierUnavailableError, messageOf } from '../../errors.js';
import {
  type FeedCheckpoint,
  type FeedWriter,
  isRestOwner,
  type OpenedCheckpoint,
  type Outbox,
} from '../../feed-outbox.js';
import { BatchedContent, type Batching } from './batched-content.js';
import { ChangedFeedError } from './changed-feed.js';
import { type ContentOptions, FeedContent } from './feed-content.js';
import { StdoutContent } from './stdout-content.js';

export interface FeedOptions extends Omit<ContentOptions, 'feed' | 'restOnly'> {
  readonly feeds: Outbox;
  readonly writer: FeedWriter;
  /** With `overwrite`: empty even a file that the job has written to, unless items wait for it. */
  readonly anew?: boolean;
  /** A writer whose claim was not renewed for this time may be replaced. */
  readonly staleMs: number;
  /** Which items go to the feed; null for all. */
  readonly accepts?: Batching['accepts'];
  /** Set when items go to standard output instead of the path. */
  readonly stdout?: Writable | undefined;
}

/** What items are written to. */
type Content = Pick<
  FeedContent,
  | 'mended'
  | 'isEmpty'
  | 'begin'
  | 'goOnAfterLoss'
  | 'goTo'
  | 'append'
  | 'verify'
  | 'tidy'
  | 'removeEmpty'
  | 'close'
>;

const BATCH = 1_000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;
const MAX_BACKOFF_MS = 5_000;

/**
 * Become the only writer of a feed file, and restore the file to its last checkpoint.
 * @throws CrawlnodeError `feed_unwritable`, or `feed_changed` when the file is not as this job left it; UsageError when the
 *   format cannot be appended to this file; FeedHeldError when another process writes it.
 */
export async function openFeedWriter(options: FeedOptions): Promise<FeedFile> {
  const { feeds, writer, path, staleMs, log } = options;
  // The file is opened first: if it cannot be written, no other process has to wait for a claim of this writer to expire.
  const content = await openContent(options);
  try {
    const { anew = false, overwrite: overwrites } = options;
    const read = (sequence: number) => feeds.read(writer.feed, sequence, BATCH);
    const checkpoint = await feeds.open(writer, { staleMs, anew, overwrites });
    if (checkpoint === null || (await beginsAnew(checkpoint, options, content))) {
      const begun = await (checkpoint === null ? content.begin() : content.goOnAfterLoss(checkpoint, read));
      // Recorded before the first item is written, so that a restart can tell our part of the file from earlier content.
      await feeds.checkpoint(writer, begun, checkpoint?.sequence);
      return new FeedFile(options, content, begun);
    }
    const reached = await content.goTo(checkpoint, read);
    // The file is sound, whatever somebody has found before.
    await feeds.checkpoint(writer, reached, reached.sequence);
    if (options.overwrite) {
      log.info(
        { file: path, items: checkpoint.sequence },
        '-O keeps what this job has written to the file, unless the crawl is flushed now; reset the job to begin anew',
      );
    }
    return new FeedFile(options, content, reached);
  } catch (error) {
    await noteChange(error, options);
    await content.close();
    throw error;
  }
}

/** Also where somebody has emptied or removed a file under -O, or has moved away what others had in it. */
async function beginsAnew(
  { isGivenUp = false, sequence, lengthBytes }: OpenedCheckpoint,
  { overwrite }: FeedOptions,
  content: Content,
): Promise<boolean> {
  if (isGivenUp) return true;
  const mayBeEmpty = sequence === 0 ? lengthBytes > 0 : overwrite;
  return mayBeEmpty && (await content.isEmpty());
}

/** Have the store know that the file is not as the crawl has left it. A later run finds it again where the store is away. */
async function noteChange(error: unknown, { feeds, writer, log }: FeedOptions): Promise<void> {
  if (!(error instanceof ChangedFeedError)) return;
  try {
    await feeds.noteChange(writer.feed, error.change);
    // Other nodes that end now look at the file too.
    if (isRestOwner(writer.owner)) await feeds.release(writer);
  } catch (why) {
    log.debug({ error: messageOf(why) }, 'the store does not know yet that a file was changed');
  }
}

async function openContent({ writer, stdout, accepts = null, ...options }: FeedOptions): Promise<Content> {
  if (stdout !== undefined) return new StdoutContent({ ...options, stdout, accepts });
  const { batchItems = 0, path: template } = options;
  const content = { ...options, feed: writer.feed, restOnly: isRestOwner(writer.owner) };
  if (batchItems === 0 && accepts === null) return FeedContent.open(content);
  return new BatchedContent({ ...content, template }, { batchItems, accepts });
}

/** An open feed file. Use `run` as long as the crawl lasts, or `drain` for the items that wait now. */
export class FeedFile {
  readonly #options: FeedOptions;
  readonly #content: Content;
  /** Where this writer began. */
  readonly #first: FeedCheckpoint;
  #written: FeedCheckpoint;
  /** A checkpoint on disk that the store may not have yet. */
  #unconfirmed: FeedCheckpoint | null = null;
  /** The items of `#unconfirmed`. */
  #unconfirmedItems: readonly string[] = [];
  /** How many of them were no items. */
  #unconfirmedMended = 0;
  #confirmedAt = performance.now();
  #failing: string | null = null;

  constructor(options: FeedOptions, content: Content, written: FeedCheckpoint) {
    this.#options = options;
    this.#content = content;
    this.#first = written;
    this.#written = written;
  }

  /** Why the file cannot be written at present; null when all is well. */
  get failing(): string | null {
    return this.#failing;
  }

  /** Items written since the feed's first. */
  get items(): number {
    return this.#written.sequence;
  }

  /** Texts of the store that were no JSON object on one line; their content is in the file, under `value`. */
  get mended(): number {
    return this.#content.mended;
  }

  /**
   * Write all waiting items. @returns how many. @throws CrawlnodeError `feed_unwritable`; the items stay in the outbox, and
   * a later call continues.
   */
  async drain(): Promise<number> {
    try {
      return await this.#drain().catch(async (error: unknown) => {
        if (!isRolledBack(error)) throw error;
        await this.#goBack();
        return this.#drain();
      });
    } catch (error) {
      await noteChange(error, this.#options);
      throw error;
    }
  }

  async #drain(): Promise<number> {
    let count = 0;
    for (;;) {
      // When the reply to a checkpoint was lost, the store may have deleted items already. So nothing is read before the
      // store has answered.
      await this.#confirm();
      const items = await this.#options.feeds.read(this.#options.writer.feed, this.#written.sequence, BATCH);
      if (items.length === 0) {
        // A file that is quiet, or done, may be changed too.
        await this.#content.verify(this.#written);
        this.#note(null);
        return count;
      }
      const before = this.#written.sequence;
      await this.#append(items);
      count += this.#written.sequence - before;
    }
  }

  /**
   * Write waiting items until aborted, and then the remaining ones. When file or store fail, it tries again with backoff,
   * and once more after the abort; `failing` then says whether items remain.
   * @throws RefusedError when another process has taken the feed over, FrontierGoneError when the store was emptied.
   */
  async run(signal: AbortSignal): Promise<void> {
    let pauseMs = MIN_POLL_MS;
    for (;;) {
      const last = signal.aborted;
      const count = await this.#tryDrain(last);
      if (last) return;
      if (count === null) pauseMs = Math.min(pauseMs * 2, MAX_BACKOFF_MS);
      else pauseMs = count > 0 ? MIN_POLL_MS : Math.min(pauseMs * 2, MAX_POLL_MS);
      await this.#renew();
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Release the feed; waiting items stay in the outbox. `exported`: an export to it is complete. */
  async close(how: { readonly exported?: boolean } = {}): Promise<void> {
    try {
      // Items on disk without a confirmation stay: the store may have recorded them, and would not send them again.
      if (this.#failing !== null) await this.#content.tidy(this.#unconfirmed ?? this.#written);
      else await this.#content.removeEmpty(this.#written);
      await this.#options.feeds.release(this.#options.writer, how);
    } finally {
      await this.#content.close();
    }
  }

  /** @returns the number of items written, or null after a failure that may pass. */
  async #tryDrain(last: boolean): Promise<number | null> {
    try {
      return await this.drain();
    } catch (error) {
      if (error instanceof FrontierUnavailableError) {
        // During the crawl the node reports an outage. At its end, only this message says that items remain.
        if (last) this.#note(new Error(`${this.#options.path} may lack items: ${error.message}`));
        return null;
      }
      if (error instanceof CrawlnodeError && error.code === 'feed_unwritable') return null;
      throw error;
    }
  }

  async #append(items: readonly string[]): Promise<void> {
    let reached: FeedCheckpoint;
    const mendedBefore = this.mended;
    try {
      reached = await this.#content.append(items, this.#written);
    } catch (error) {
      this.#note(error);
      throw error;
    }
    this.#note(null);
    this.#unconfirmed = reached;
    this.#unconfirmedItems = items.slice(0, reached.sequence - this.#written.sequence);
    this.#unconfirmedMended = this.mended - mendedBefore;
    await this.#confirm();
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed === null) return;
    const { feeds, writer } = this.#options;
    const { sequence } = this.#written;
    const [items, mended] = [this.#unconfirmedItems, this.#unconfirmedMended];
    await feeds.checkpoint(writer, this.#unconfirmed, sequence, items, mended);
    this.#written = this.#unconfirmed;
    this.#unconfirmed = null;
    this.#unconfirmedItems = [];
    this.#unconfirmedMended = 0;
    this.#confirmedAt = performance.now();
  }

  /**
   * A store that was restored from an older copy crawls the forgotten pages again and delivers their items again. So the
   * file returns to the checkpoint of the store: its items are then neither twice in the file nor skipped. When the crawl
   * was flushed as this node joined, a file that it overwrites is emptied. When somebody deletes the checkpoint later,
   * nothing is cut off: new items are appended.
   */
  async #goBack(): Promise<void> {
    const { feeds, writer, path, overwrite, staleMs, log } = this.#options;
    this.#unconfirmedItems = [];
    this.#unconfirmedMended = 0;
    const checkpoint = await feeds.open(writer, { staleMs, overwrites: overwrite });
    const from = this.#written.sequence;
    if (checkpoint === null && from > this.#first.sequence) {
      this.#written = { ...(this.#unconfirmed ?? this.#written), sequence: 0 };
      this.#unconfirmed = this.#written;
      const message =
        'the store has lost its record of this file: what is in the file stays, new items follow, and items that waited are lost';
      log.error({ file: path, items: from }, message);
      return;
    }
    if (checkpoint === null && overwrite) {
      this.#written = await this.#content.begin();
    } else {
      const goal = checkpoint ?? { ...this.#first, sequence: 0 };
      this.#written = await this.#content.goTo(goal, (sequence) => feeds.read(writer.feed, sequence, BATCH));
    }
    this.#unconfirmed = checkpoint === null ? this.#written : null;
    log.warn(
      { file: path, from, to: this.#written.sequence },
      checkpoint === null && overwrite
        ? 'the crawl was flushed, so its file is started again'
        : 'the store is older than the file, so the file is truncated to the checkpoint of the store',
    );
  }

  /** The claim is renewed also when nothing is written, to show that the writer lives. */
  async #renew(): Promise<void> {
    if (performance.now() - this.#confirmedAt < this.#options.staleMs / 4) return;
    this.#unconfirmed ??= this.#written;
    try {
      await this.#confirm();
    } catch (error) {
      // The next drain handles a store that has lost the feed.
      if (!(error instanceof FrontierUnavailableError) && !isRolledBack(error)) throw error;
    }
  }

  /** Log the first failure and the recovery, not each attempt. */
  #note(error: unknown): void {
    const { path, log } = this.#options;
    const was = this.#failing;
    this.#failing = error === null ? null : messageOf(error);
    if (was === null && this.#failing !== null) {
      const waits =
        error instanceof ChangedFeedError ? '' : '; committed items wait in the store until it can';
      log.error({ file: path }, `${this.#failing}${waits}`);
    }
    if (was !== null && this.#failing === null) log.info({ file: path }, 'the file can be written again');
  }
}

function isRolledBack(error: unknown): boolean {
  return error instanceof CrawlnodeError && error.code === 'feed_rolled_back';
}
