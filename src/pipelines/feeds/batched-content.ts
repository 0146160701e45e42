/**
 * A feed in several files with a number of items each (`batch_item_count`), or with a filter for items (`item_filter`). The
 * header of the checkpoint records the current file and its number of items. A new file is recorded in the store before its
 * first item is written, so both are exact after a kill.
 */
import { CrawlnodeError } from '../../errors.js';
import type { FeedCheckpoint } from '../../feed-outbox.js';
import { type ContentOptions, FeedContent, type ReadItems } from './feed-content.js';
import { itemLine } from './feed-lines.js';
import { batchPath } from './formats/feed-format.js';

/** Which items of the crawl go to which file. */
export interface Batching {
  /** The most items of a file; 0 for one file with all. */
  readonly batchItems: number;
  /** Whether an item belongs to the feed; null for all items. It must give the same answer every time. */
  readonly accepts: ((item: unknown) => boolean) | null;
}

/** What the header of a checkpoint says. */
interface Place {
  /** The number of the file, from 1. */
  readonly batch: number;
  /** Items in it. */
  readonly items: number;
  /** The header of its format. */
  readonly header: string;
}

export class BatchedContent {
  readonly #options: ContentOptions;
  readonly #batching: Batching;
  /** The open file; null when the last one is full, or none is open yet. */
  #file: { readonly batch: number; readonly content: FeedContent } | null = null;
  #mended = 0;

  constructor(options: ContentOptions, batching: Batching) {
    this.#options = options;
    this.#batching = batching;
  }

  get mended(): number {
    return this.#mended + (this.#file?.content.mended ?? 0);
  }

  /** When a file was moved away, the feed still continues with the next one. */
  async isEmpty(): Promise<boolean> {
    return false;
  }

  async begin(): Promise<FeedCheckpoint> {
    return this.#beginFile(1, 0);
  }

  async goOnAfterLoss(before: FeedCheckpoint): Promise<FeedCheckpoint> {
    const { batch, items, header } = placeOf(before, this.#options.path);
    const { content } = await this.#open(batch);
    // The items of a file begin anew, so none of them is counted as written.
    const begun = await content.goOnAfterLoss({ ...before, sequence: items, header }, async () => []);
    return this.#checkpoint(before.sequence, batch, { ...begun, sequence: 0 });
  }

  async goTo(checkpoint: FeedCheckpoint, read: ReadItems): Promise<FeedCheckpoint> {
    const place = placeOf(checkpoint, this.#options.path);
    // A full file may have been moved away.
    if (this.#isFull(place)) return checkpoint;
    const { content } = await this.#open(place.batch);
    const { sequence } = checkpoint;
    const reached = await content.goTo(
      { ...checkpoint, sequence: place.items, header: place.header },
      async () => this.#select(await read(sequence), place.items).accepted,
    );
    return this.#checkpoint(sequence, place.batch, reached);
  }

  async append(texts: readonly string[], after: FeedCheckpoint): Promise<FeedCheckpoint> {
    const place = placeOf(after, this.#options.path);
    if (this.#isFull(place)) {
      await this.#closeFile();
      return this.#beginFile(place.batch + 1, after.sequence);
    }
    const { accepted, consumed } = this.#select(texts, place.items);
    const sequence = after.sequence + consumed;
    if (accepted.length === 0) return { ...after, sequence };
    const { content } = await this.#open(place.batch);
    const inFile = { sequence: place.items, lengthBytes: after.lengthBytes, header: place.header };
    return this.#checkpoint(sequence, place.batch, await content.append(accepted, inFile));
  }

  async verify(written: FeedCheckpoint): Promise<void> {
    const place = placeOf(written, this.#options.path);
    // A full file may have been moved away.
    if (this.#isFull(place)) return;
    const { lengthBytes } = written;
    await this.#file?.content.verify({ sequence: place.items, lengthBytes, header: place.header });
  }

  async tidy(checkpoint: FeedCheckpoint): Promise<void> {
    await this.#file?.content.tidy(checkpoint);
  }

  async removeEmpty(checkpoint: FeedCheckpoint): Promise<void> {
    await this.#file?.content.removeEmpty(checkpoint);
  }

  async close(): Promise<void> {
    await this.#closeFile();
  }

  async #beginFile(batch: number, sequence: number): Promise<FeedCheckpoint> {
    const { content } = await this.#open(batch);
    return this.#checkpoint(sequence, batch, await content.begin());
  }

  async #open(batch: number): Promise<{ readonly content: FeedContent }> {
    if (this.#file?.batch === batch) return this.#file;
    await this.#closeFile();
    const path = batchPath(this.#options.path, batch);
    this.#file = { batch, content: await FeedContent.open({ ...this.#options, path }) };
    return this.#file;
  }

  async #closeFile(): Promise<void> {
    if (this.#file === null) return;
    this.#mended += this.#file.content.mended;
    const { content } = this.#file;
    this.#file = null;
    await content.close();
  }

  /** The items for the current file, from no more texts than it has room for. */
  #select(texts: readonly string[], inFile: number): { accepted: string[]; consumed: number } {
    const { batchItems, accepts } = this.#batching;
    const room = batchItems === 0 ? Number.POSITIVE_INFINITY : batchItems - inFile;
    const accepted: string[] = [];
    let consumed = 0;
    for (const text of texts) {
      if (accepted.length >= room) break;
      consumed += 1;
      if (accepts === null || accepts(JSON.parse(itemLine(text).line))) accepted.push(text);
    }
    return { accepted, consumed };
  }

  #isFull({ items }: Place): boolean {
    const { batchItems } = this.#batching;
    return batchItems > 0 && items >= batchItems;
  }

  #checkpoint(sequence: number, batch: number, inFile: FeedCheckpoint): FeedCheckpoint {
    const place: Place = { batch, items: inFile.sequence, header: inFile.header };
    return { ...inFile, sequence, header: JSON.stringify(place) };
  }
}

/** @throws CrawlnodeError `feed_changed` where the store holds another kind of checkpoint */
function placeOf({ header }: FeedCheckpoint, path: string): Place {
  try {
    const { batch, items, header: inner } = JSON.parse(header) as Place;
    const isPlace = Number.isSafeInteger(batch) && batch >= 1 && Number.isSafeInteger(items) && items >= 0;
    if (isPlace && typeof inner === 'string') return { batch, items, header: inner };
  } catch {
    // It is not JSON.
  }
  throw new CrawlnodeError(
    'feed_changed',
    `this job has written to ${path} without batch_item_count and item_filter: keep its options, or reset the job.`,
  );
}
