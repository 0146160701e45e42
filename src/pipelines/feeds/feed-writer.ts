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
import { type FeedCheckpoint, type FeedWriter, isRestOwner, type Outbox } from '../../feed-outbox.js';
import { BatchedContent, type Batching } from './batched-content.js';
import { type ContentOptions, FeedContent } from './feed-content.js';
import { StdoutContent } from './stdout-content.js';

export interface FeedOptions extends Omit<ContentOptions, 'feed' | 'restOnly'> {
  readonly feeds: Outbox;
  readonly writer: FeedWriter;
  /** With `overwrite`: begin anew even a file that the job has written to, unless there is more to write to it. */
  readonly anew?: boolean;
  /** A writer that gives no sign for so long may be replaced. */
  readonly staleMs: number;
  /** Which items go to the feed; null for all. */
  readonly accepts?: Batching['accepts'];
  /** Given where items go to standard output instead of the path. */
  readonly stdout?: Writable | undefined;
}

/** What items are written to. */
type Content = Pick<
  FeedContent,
  'mended' | 'isEmpty' | 'begin' | 'goTo' | 'append' | 'verify' | 'tidy' | 'removeEmpty' | 'close'
>;

const BATCH = 1_000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;
const MAX_BACKOFF_MS = 5_000;

/**
 * Become the one writer of a feed file and bring the file to its last checkpoint.
 * @throws CrawlnodeError `feed_unwritable`, or `feed_changed` when the file is not as this job has left it;
 *   UsageError when the format cannot be appended to this file; FeedHeldError when another process writes it.
 */
export async function openFeedWriter(options: FeedOptions): Promise<FeedFile> {
  const { feeds, writer, path, staleMs, log } = options;
  // The file first: where it cannot be written, nobody need wait for this writer's claim to go stale.
  const content = await openContent(options);
  try {
    const { anew = false, overwrite: overwrites } = options;
    const known = await feeds.open(writer, { staleMs, anew, overwrites });
    if (known === null) {
      const begun = await content.begin();
      // Before the first item is written: from here on a restart knows what is ours and what was there.
      await feeds.checkpoint(writer, begun);
      return new FeedFile(options, content, begun);
    }
    if (options.overwrite && known.sequence > 0 && (await content.isEmpty())) {
      const begun = { ...(await content.begin()), sequence: known.sequence };
      await feeds.checkpoint(writer, begun, known.sequence);
      const message =
        'the file was removed or emptied since this job wrote to it, so -O begins it anew: it gets the items from now on';
      log.warn({ file: path, itemsBefore: known.sequence }, message);
      return new FeedFile(options, content, begun);
    }
    if (known.sequence === 0 && known.lengthBytes > 0 && (await content.isEmpty())) {
      // Nothing of this job was in it: somebody has put what others wrote out of the way.
      const begun = await content.begin();
      await feeds.checkpoint(writer, begun, 0);
      return new FeedFile(options, content, begun);
    }
    const reached = await content.goTo(known, (sequence) => feeds.read(writer.feed, sequence, BATCH));
    if (options.overwrite) {
      log.info(
        { file: path, items: known.sequence },
        '-O does not empty the file, as this job has written to it before; reset the job to begin anew',
      );
    }
    return new FeedFile(options, content, reached);
  } catch (error) {
    await content.close();
    throw error;
  }
}

async function openContent({ writer, stdout, accepts = null, ...options }: FeedOptions): Promise<Content> {
  if (stdout !== undefined) return new StdoutContent({ ...options, stdout, accepts });
  const { batchItems = 0, path: template } = options;
  const content = { ...options, feed: writer.feed, restOnly: isRestOwner(writer.owner) };
  if (batchItems === 0 && accepts === null) return FeedContent.open(content);
  return new BatchedContent({ ...content, template }, { batchItems, accepts });
}

/** An open feed file. Use `run` for as long as the crawl lasts, or `drain` for what waits now. */
export class FeedFile {
  readonly #options: FeedOptions;
  readonly #content: Content;
  /** Where this writer began. */
  readonly #first: FeedCheckpoint;
  #written: FeedCheckpoint;
  /** On disk, but perhaps not yet known to the store. */
  #unconfirmed: FeedCheckpoint | null = null;
  /** The items of `#unconfirmed`. */
  #unconfirmedItems: readonly string[] = [];
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
   * Write everything that waits. @returns how many items.
   * @throws CrawlnodeError `feed_unwritable`; the items stay in the outbox and a later call goes on.
   */
  async drain(): Promise<number> {
    try {
      return await this.#drain();
    } catch (error) {
      if (!isRolledBack(error)) throw error;
      await this.#goBack();
      return this.#drain();
    }
  }

  async #drain(): Promise<number> {
    let count = 0;
    for (;;) {
      // After a lost reply the store may have dropped items already: never read again before it has answered.
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
   * Drain until aborted, and then what is left. A file or store that fails is tried again, with backoff, and once
   * more after the abort; `failing` then says whether items remain.
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

  /** Give the feed back; what waits stays in the outbox. `exported`: an export to it has come to its end. */
  async close(how: { readonly exported?: boolean } = {}): Promise<void> {
    try {
      // What is on disk but not confirmed stays: the store may know of it all the same, and would miss it.
      if (this.#failing !== null) await this.#content.tidy(this.#unconfirmed ?? this.#written);
      else await this.#content.removeEmpty(this.#written);
      await this.#options.feeds.release(this.#options.writer, how);
    } finally {
      await this.#content.close();
    }
  }

  /** @returns the items written, or null when it failed in a way that may pass. */
  async #tryDrain(last: boolean): Promise<number | null> {
    try {
      return await this.drain();
    } catch (error) {
      if (error instanceof FrontierUnavailableError) {
        // While the crawl runs the node speaks of an outage; at its end nobody else knows that items remain.
        if (last) this.#note(new Error(`${this.#options.path} may lack items: ${error.message}`));
        return null;
      }
      if (error instanceof CrawlnodeError && error.code === 'feed_unwritable') return null;
      throw error;
    }
  }

  async #append(items: readonly string[]): Promise<void> {
    let reached: FeedCheckpoint;
    try {
      reached = await this.#content.append(items, this.#written);
    } catch (error) {
      this.#note(error);
      throw error;
    }
    this.#note(null);
    this.#unconfirmed = reached;
    this.#unconfirmedItems = items.slice(0, reached.sequence - this.#written.sequence);
    await this.#confirm();
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed === null) return;
    const { feeds, writer } = this.#options;
    const { sequence } = this.#written;
    await feeds.checkpoint(writer, this.#unconfirmed, sequence, this.#unconfirmedItems);
    this.#written = this.#unconfirmed;
    this.#unconfirmed = null;
    this.#unconfirmedItems = [];
    this.#confirmedAt = performance.now();
  }

  /**
   * A store restored from an older copy crawls again what it has forgotten, and gives its items again: the file goes
   * back to where the store stands, so that they are not in it twice, nor skipped as written. Where the crawl was flushed
   * as this node joined, the file that it overwrites begins anew. A checkpoint that vanishes later, because somebody deleted
   * it, is no reason to cut anything off: new items follow what is in the file.
   */
  async #goBack(): Promise<void> {
    const { feeds, writer, path, overwrite, staleMs, log } = this.#options;
    this.#unconfirmedItems = [];
    const known = await feeds.open(writer, { staleMs, overwrites: overwrite });
    const from = this.#written.sequence;
    if (known === null && from > this.#first.sequence) {
      this.#written = { ...(this.#unconfirmed ?? this.#written), sequence: 0 };
      this.#unconfirmed = this.#written;
      const message =
        'the store has lost its record of this file: what is in the file stays, new items follow, and items that waited are lost';
      log.error({ file: path, items: from }, message);
      return;
    }
    if (known === null && overwrite) {
      this.#written = await this.#content.begin();
    } else {
      const goal = known ?? { ...this.#first, sequence: 0 };
      this.#written = await this.#content.goTo(goal, (sequence) => feeds.read(writer.feed, sequence, BATCH));
    }
    this.#unconfirmed = known === null ? this.#written : null;
    log.warn(
      { file: path, from, to: this.#written.sequence },
      known === null && overwrite
        ? 'the crawl was flushed, so its file is started again'
        : 'the store is older than the file, so the file is truncated to the checkpoint of the store',
    );
  }

  /** A quiet feed, or one that cannot be written, still shows that its writer lives. */
  async #renew(): Promise<void> {
    if (performance.now() - this.#confirmedAt < this.#options.staleMs / 4) return;
    this.#unconfirmed ??= this.#written;
    try {
      await this.#confirm();
    } catch (error) {
      // What the store has forgotten is the next drain's to deal with.
      if (!(error instanceof FrontierUnavailableError) && !isRolledBack(error)) throw error;
    }
  }

  /** Log the first failure and the recovery, not each attempt. */
  #note(error: unknown): void {
    const { path, log } = this.#options;
    const was = this.#failing;
    this.#failing = error === null ? null : messageOf(error);
    if (was === null && this.#failing !== null) {
      const isChanged = error instanceof CrawlnodeError && error.code === 'feed_changed';
      const waits = isChanged ? '' : '; committed items wait in the store until it can';
      log.error({ file: path }, `${this.#failing}${waits}`);
    }
    if (was !== null && this.#failing === null) log.info({ file: path }, 'the file can be written again');
  }
}

function isRolledBack(error: unknown): boolean {
  return error instanceof CrawlnodeError && error.code === 'feed_rolled_back';
}
