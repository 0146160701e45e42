/**
 * The content of a feed file: starting it, restoring it to a checkpoint, and appending to it. Items come from the store, so
 * each is checked. Before a write, its end is recorded (`feed-records.ts`).
 */
import { type CrawlnodeError, RefusedError } from '../../errors.js';
import type { FeedCheckpoint } from '../../feed-outbox.js';
import { howMany, n } from '../../format-amounts.js';
import type { Logger } from '../../log.js';
import { ChangedFeedError } from './changed-feed.js';
import { FeedDisk, type ForeignChange } from './feed-disk.js';
import { itemLine } from './feed-lines.js';
import type { FeedLock } from './feed-lock.js';
import { type FeedRecords, noRecords } from './feed-records.js';
import { type FeedDescription, type FeedFormat, formatFor, type Rendered } from './formats/feed-format.js';
import { append, overwrite } from './overwrite-or-append.js';
import { itemsBehind, itemsInFile, type OwnPart, restoreFeed } from './restore-feed.js';

/** Reads items of the outbox after a sequence, some of them. */
export type ReadItems = (sequence: number) => Promise<readonly string[]>;

export interface ContentOptions extends FeedDescription {
  readonly feed: string;
  /** `-O`: empty the file, unless this job has written to it before. `-o` appends to its content. */
  readonly overwrite: boolean;
  /** Recorded for a feed in several files, or with a filter (`FeedRecord`). */
  readonly template?: string;
  /** Only what a dead node left is written. */
  readonly restOnly?: boolean;
  /** The records of this user's feed files. Without them, only the outbox shows which part of a file is crawlnode's own. */
  readonly records?: FeedRecords;
  /** Called with what items and columns lack of each other, for each append. */
  readonly onRendered?: (gaps: Pick<Rendered, 'leftOut' | 'absent'>) => void;
  readonly log: Logger;
}

export class FeedContent {
  readonly #options: ContentOptions;
  readonly #format: FeedFormat;
  readonly #disk: FeedDisk;
  readonly #lock: FeedLock | null;
  /** The part of the file that this crawl has written; null until it is known. */
  #own: OwnPart | null = null;
  /** Somebody else has changed the file, so nothing is cut off it. */
  #isChanged = false;
  #saidLeftOut = false;
  #mended = 0;

  private constructor(options: ContentOptions, disk: FeedDisk, lock: FeedLock | null) {
    this.#options = options;
    this.#format = formatFor(options.format, options);
    this.#disk = disk;
    this.#lock = lock;
  }

  /**
   * Open the file, or create it; its content stays.
   * @throws CrawlnodeError `feed_unwritable`; FeedHeldError while another process of this user writes the same file
   */
  static async open(options: ContentOptions): Promise<FeedContent> {
    const { path, records = noRecords, restOnly = false } = options;
    const disk = await FeedDisk.open(path);
    try {
      const identity = await disk.identity();
      return new FeedContent(
        options,
        disk,
        identity === null ? null : records.lock(identity, path, restOnly),
      );
    } catch (error) {
      await disk.close();
      throw error;
    }
  }

  /** Texts of the store that were no JSON object on one line; their content is in the file, under `value`. */
  get mended(): number {
    return this.#mended;
  }

  /** Whether the file holds nothing: it is new, or somebody removed or emptied it. */
  async isEmpty(): Promise<boolean> {
    return (await this.#disk.bytesBehind(0)) === 0;
  }

  /**
   * Start writing items of this job, in an empty file or after its content.
   * @throws UsageError where nothing can be appended to its content.
   */
  async begin(): Promise<FeedCheckpoint> {
    const { overwrite: isOverwritten, records = noRecords, path, log } = this.#options;
    const record = this.#recorded();
    if (!isOverwritten) await this.#cutOffOwnHalfLine(record);
    const begun = await (isOverwritten ? overwrite : append)(this.#disk, this.#format);
    records.forgetOld();
    if (
      !isOverwritten &&
      record !== null &&
      record.endBytes > record.beginBytes &&
      begun.lengthBytes > record.beginBytes
    ) {
      const message =
        'The file holds items of an earlier crawl that the store does not know any more, as it was reset or is gone: pages that are ' +
        'fetched again are in the file twice. -O begins it anew';
      log.warn({ file: path, bytes: begun.lengthBytes }, message);
    }
    this.#claim(begun.lengthBytes, begun.lengthBytes);
    return this.#left({ sequence: 0, ...begun });
  }

  /**
   * Go on with a file that is not as this job has left it, since somebody has accepted that, or it is empty: behind its last whole
   * line, or behind all that it holds where its format allows that, else anew. What is cut off is in a copy.
   * @param before the last checkpoint @param read as in `goTo`
   */
  async goOnAfterLoss(before: FeedCheckpoint, read: ReadItems): Promise<FeedCheckpoint> {
    const { path, log } = this.#options;
    this.#own ??= this.#recorded();
    const { beginBytes = Number.POSITIVE_INFINITY } = this.#own ?? {};
    const size = await this.#disk.size();
    const keptBytes = await this.#keepableBytes(size);
    const isPrefix = size < before.lengthBytes;
    const without = isPrefix ? await itemsBehind(this.#state(before), keptBytes) : before.sequence;
    const written = isPrefix ? 0 : await this.#writtenBehind(before, keptBytes, read);
    const copy = keptBytes < size ? await this.#cutOffWithCopy(keptBytes) : null;
    const begun = await (keptBytes === 0 ? overwrite : append)(this.#disk, this.#format);
    const fields = { file: path, bytes: begun.lengthBytes, ...(copy !== null && { copy }) };
    if (keptBytes === 0) {
      if (before.sequence > 0)
        log.warn({ ...fields, without }, 'the file is begun anew, without the items that it had');
    } else if (isPrefix) {
      log.warn(
        { ...fields, without },
        'the file goes on behind what is left of it, without the items that are gone',
      );
    } else {
      const message =
        'the file keeps what it holds and goes on behind it: of the items that the crawl had written to it some may be missing, and ' +
        'others may be in it twice';
      log.warn({ ...fields, items: before.sequence }, message);
    }
    const { lengthBytes } = begun;
    this.#claim(isPrefix && keptBytes > 0 ? Math.min(beginBytes, lengthBytes) : lengthBytes, lengthBytes);
    return this.#left({ sequence: before.sequence + written, ...begun });
  }

  /** How many items a writer that was killed before its next checkpoint has left behind the last one, as whole lines. */
  async #writtenBehind(
    { sequence, lengthBytes, end }: FeedCheckpoint,
    keptBytes: number,
    read: ReadItems,
  ): Promise<number> {
    const isOther = end !== undefined && end !== (await this.#disk.endAt(lengthBytes));
    if (this.#options.format !== 'jsonl' || keptBytes <= lengthBytes || isOther) return 0;
    const lines = (await read(sequence)).map((item) => Buffer.from(`${itemLine(item).line}\n`));
    const most = lines.reduce((sum, { length }) => sum + length, 0);
    const bytes = await this.#disk.behind(lengthBytes, Math.min(keptBytes - lengthBytes, most));
    let at = 0;
    const other = lines.findIndex((line) => {
      const isSame = bytes.subarray(at, at + line.length).equals(line);
      at += line.length;
      return !isSame;
    });
    return other === -1 ? lines.length : other;
  }

  /**
   * Restore the file to a checkpoint of this job. @throws CrawlnodeError `feed_changed` when the file is not as this job left it.
   */
  async goTo(checkpoint: FeedCheckpoint, read: ReadItems): Promise<FeedCheckpoint> {
    const { path, log } = this.#options;
    this.#own ??= this.#recorded();
    // What `removeEmpty` has removed.
    const opening = this.#format.encode(this.#format.opening).length;
    const { lengthBytes: goal } = checkpoint;
    if (this.#options.storeEmpty === false && goal === opening && (await this.#disk.bytesBehind(0)) === 0) {
      await overwrite(this.#disk, this.#format);
    }
    const restored = await restoreFeed({
      ...{ path, ...this.#state(checkpoint) },
      next: async (from) => {
        const items = await read(from.sequence);
        return this.#format.render(
          items.map((item) => itemLine(item).line),
          { ...from, sequence: itemsInFile(from, this.#format) },
        ).text;
      },
    });
    const { lengthBytes } = restored.checkpoint;
    this.#claim(this.#own?.beginBytes ?? lengthBytes, lengthBytes);
    const reached = await this.#left(restored.checkpoint);
    if (restored.copy !== null) {
      const message = 'The file held more than the store knows of; what was cut off is in the copy';
      log.warn({ file: path, copy: restored.copy }, message);
    }
    return reached;
  }

  /**
   * Write items behind a checkpoint. @returns the next one.
   * @throws CrawlnodeError `feed_unwritable`, `feed_changed`; RefusedError `feed_format` where a CSV file that others began
   * has no column for what the first item holds
   */
  async append(texts: readonly string[], after: FeedCheckpoint): Promise<FeedCheckpoint> {
    await this.verify(after);
    const state = { ...after, sequence: itemsInFile(after, this.#format) };
    const items = this.#checked(texts, after.sequence);
    if (after.lengthBytes === this.#own?.beginBytes) this.#refuseMisfit(items, state);
    const { text, header, ...gaps } = this.#format.render(items, state);
    const bytes = this.#format.encode(text);
    const lengthBytes = after.lengthBytes + bytes.length;
    this.#claim(this.#own?.beginBytes ?? after.lengthBytes, lengthBytes);
    const change = await this.#disk.append(bytes, this.#closing(), after.lengthBytes);
    if (change !== null) throw await this.#changed(change, after);
    this.#options.onRendered?.(gaps);
    if (gaps.leftOut !== undefined) this.#sayLeftOut(gaps.leftOut);
    const end = await this.#disk.endAt(lengthBytes);
    return { sequence: after.sequence + texts.length, lengthBytes, header, end };
  }

  /** @param written the last checkpoint @throws CrawlnodeError `feed_changed` where somebody else has changed the file */
  async verify(written: FeedCheckpoint): Promise<void> {
    const change = await this.#disk.foreignChange();
    if (change !== null) throw await this.#changed(change, written);
  }

  /** Remove what a failed write has left after a checkpoint. If this fails too, the next start does it. */
  async tidy({ lengthBytes }: FeedCheckpoint): Promise<void> {
    if (this.#isChanged) return;
    await this.#disk.cutOff(lengthBytes, this.#format).catch(() => {});
  }

  /** Remove an empty file when `store_empty: false` asks for it. @param written the checkpoint */
  async removeEmpty({ lengthBytes }: FeedCheckpoint): Promise<void> {
    const { storeEmpty = true } = this.#options;
    if (!storeEmpty && lengthBytes === this.#format.encode(this.#format.opening).length) {
      await this.#disk.remove();
    }
  }

  async close(): Promise<void> {
    this.#lock?.release();
    await this.#disk.close();
  }

  /** What was changed, and which items are gone. */
  async #changed(change: ForeignChange, written: FeedCheckpoint): Promise<CrawlnodeError> {
    this.#isChanged = true;
    const { what, keptBytes, isMoved } = change;
    const last = itemsInFile(written, this.#format);
    const items = isMoved ? 0 : await itemsBehind(this.#state(written), keptBytes);
    const begin = Math.max(this.#own?.beginBytes ?? 0, keptBytes);
    const range = `gone are bytes ${n(begin)} to ${n(written.lengthBytes)}, with items ${n(last - items + 1)} to ${n(last)} of this crawl`;
    const moved = `what the crawl has written so far (${howMany(last, 'item')}) is in the renamed file`;
    const fate = isMoved ? `; ${moved}` : items > 0 ? `; ${range}` : '';
    return new ChangedFeedError(this.#options.path, {
      what: `${what} while the crawl wrote to it${fate}`,
      items,
    });
  }

  #state(checkpoint: FeedCheckpoint) {
    const hasLines = this.#options.format === 'jsonl';
    return { disk: this.#disk, format: this.#format, own: this.#own, checkpoint, hasLines };
  }

  /** How much of a file can stay before further items. */
  async #keepableBytes(size: number): Promise<number> {
    if (size === 0) return 0;
    if (this.#options.format === 'jsonl') return this.#disk.lastLineEnd(size);
    const { appendsNot, itemEnds } = this.#format;
    const isWhole = appendsNot === null && itemEnds?.includes(await this.#disk.before(size)) === true;
    return isWhole ? size : 0;
  }

  /** A line of an earlier crawl that somebody cut: the next item would leave it in the middle of the file. */
  async #cutOffOwnHalfLine(record: OwnPart | null): Promise<void> {
    const { path, format, log } = this.#options;
    const size = await this.#disk.size();
    if (record === null || format !== 'jsonl' || size > record.endBytes) return;
    const keptBytes = await this.#disk.lastLineEnd(size);
    if (keptBytes === size || keptBytes < record.beginBytes) return;
    const copy = await this.#cutOffWithCopy(keptBytes);
    log.warn({ file: path, copy }, 'The last line of the file was cut; what was left of it is in the copy');
  }

  /** @returns the path of the copy */
  async #cutOffWithCopy(keptBytes: number): Promise<string> {
    const copy = await this.#disk.copyBehind(keptBytes);
    await this.#disk.replaceFrom(keptBytes, Buffer.alloc(0));
    return copy;
  }

  /** The file is as this process has left it. */
  async #left(checkpoint: FeedCheckpoint): Promise<FeedCheckpoint> {
    await this.#disk.leaveAt(checkpoint.lengthBytes);
    return { ...checkpoint, end: await this.#disk.endAt(checkpoint.lengthBytes) };
  }

  #refuseMisfit(items: readonly string[], state: FeedCheckpoint): void {
    const columns = this.#format.misfit?.(items, state) ?? null;
    if (columns === null) return;
    throw new RefusedError(
      `${this.#options.path} has the columns ${columns.join(', ')}, and the items have none of them: move or rename this file; the same command then writes the items to a new one`,
      { code: 'feed_format' },
    );
  }

  #recorded(): OwnPart | null {
    const { records = noRecords, feed, path } = this.#options;
    const record = records.find(feed);
    return record?.path === path ? record : null;
  }

  /** Record which part of the file is ours, before it is written. @param lengthBytes up to its last item */
  #claim(beginBytes: number, lengthBytes: number): void {
    const { feed, path, format, escapeFormulas = false, records = noRecords } = this.#options;
    const { fields = null, indent = 0, storeEmpty = true } = this.#options;
    const own = { beginBytes, endBytes: lengthBytes + this.#closing().length };
    this.#own = own;
    const { template, batchItems, itemFilter } = this.#options;
    records.save(feed, {
      ...{ path, format, ...own, escapeFormulas, fields, indent, storeEmpty },
      ...(template !== undefined && { template }),
      ...(batchItems !== undefined && { batchItems }),
      ...(itemFilter != null && { itemFilter }),
    });
  }

  #closing(): Buffer {
    return this.#format.encode(this.#format.closing);
  }

  /** Other programs can write to the store: a text that is no item is put into an item. */
  #checked(texts: readonly string[], sequence: number): string[] {
    const { path, log } = this.#options;
    return texts.map((text, n) => {
      const { line, problem } = itemLine(text);
      if (problem === null) return line;
      this.#mended += 1;
      const message = 'The store holds something that is no item; its content is in the file, under "value"';
      if (this.#mended === 1) log.warn({ file: path, item: sequence + n + 1, problem }, message);
      return line;
    });
  }

  #sayLeftOut(leftOut: NonNullable<Rendered['leftOut']>): void {
    const { path, log } = this.#options;
    if (this.#saidLeftOut) return;
    this.#saidLeftOut = true;
    const { fields } = leftOut;
    log.warn(
      { file: path, fields },
      'Some fields of the items have no column in the file and are left out of it; FEEDS may name all columns (fields)',
    );
  }
}
