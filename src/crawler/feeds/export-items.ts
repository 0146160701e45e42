/**
 * `items export -o FILE`: the items list, moved into a file, each item once whatever is killed:
 *
 * ```
 * items list ── take ──► outbox of the file's feed ── drain ──► file (append, fsync, checkpoint)
 * ```
 *
 * The first arrow is one step of the store, the second is what `-o` of a crawl does. Both resume where they stood.
 */
import { UsageError } from '../../errors.js';
import type { FeedWriter } from '../../feed-outbox.js';
import type { FeedFile } from '../../pipelines/feeds/feed-writer.js';
import type { FeedTarget } from './feed-targets.js';
import { type FeedsOfCrawl, openTarget, writerOf } from './open-target.js';

/** Items of one step. The script that moves them runs for a few ms. */
const TAKE = 1_000;

export interface ExportOptions extends FeedsOfCrawl {
  readonly target: FeedTarget;
  /** At most so many are taken from the list. */
  readonly max: number;
  /** Called as they go. */
  onProgress(written: number): void;
}

export interface Exported {
  /** Items written to the file by this call, including those that an interrupted export had taken. */
  readonly written: number;
  /** In the file now, of this job. */
  readonly inFile: number;
  /** The file was started by an export that was interrupted. */
  readonly resumed: boolean;
  /** Texts that were not JSON objects, which other programs may have put into the list. They are written under `value`. */
  readonly foreign: number;
}

/**
 * Write the present content of the items list to a file.
 * @throws RefusedError while another process writes the file; CrawlnodeError when it cannot be written. The remaining items
 *   are then in the store, and the same call continues.
 */
export async function exportItems(options: ExportOptions): Promise<Exported> {
  const { target } = options;
  if (target.isStdout)
    throw new UsageError('-o -: export writes a file; to look at items use "items SPIDER list"');
  const writer = writerOf(target);
  const file = await openTarget(target, writer, options, { anew: target.overwrite });
  const before = file.items;
  try {
    await move(file, writer, options);
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
  await file.close({ exported: true });
  return {
    ...{ written: file.items - before, inFile: file.items, foreign: file.mended },
    resumed: target.overwrite && before > 0,
  };
}

/** The next batch is taken while the previous one is written. */
async function move(file: FeedFile, writer: FeedWriter, options: ExportOptions): Promise<void> {
  const { frontier, max, onProgress } = options;
  const before = file.items;
  // Only the present items: with a running crawl the export would never end.
  let left = Math.min(max, (await frontier.count()).items);
  for (let moved = -1; moved !== 0; left -= moved) {
    const take = left > 0 ? frontier.feeds.take(writer, Math.min(left, TAKE)) : 0;
    const [took, wrote] = await Promise.allSettled([take, file.drain()]);
    if (wrote.status === 'rejected') throw wrote.reason;
    if (took.status === 'rejected') throw took.reason;
    moved = took.value;
    onProgress(file.items - before);
  }
}
