/**
 * `items export -o FILE`: move the items list into a file. Each item is written once, even if the process is killed:
 *
 * ```
 * items list ── take ──► outbox of the file's feed ── drain ──► file (append, fsync, checkpoint)
 * ```
 *
 * The first arrow is one atomic operation of the store. The second is the feed writer of a crawl. Both can be resumed.
 */
import { randomUUID } from 'node:crypto';
import os from 'node:os';
import type { FeedWriter } from '../../feed.js';
import type { Frontier } from '../../frontier/frontier.js';
import { silentLogger } from '../../log.js';
import type { FeedRecords } from '../../pipelines/feed-records.js';
import { type FeedFile, openFeedWriter } from '../../pipelines/feed-writer.js';
import type { FeedTarget } from './open-feeds.js';

/** Bounds the time that the script in the store runs. */
const BATCH = 1_000;

export interface ExportOptions {
  readonly frontier: Frontier;
  readonly target: FeedTarget;
  /** Where this user's files are recorded. */
  readonly records: FeedRecords;
  readonly staleMs: number;
  /** The most items to take from the list. */
  readonly max: number;
  /** Called after each batch. */
  onProgress(written: number): void;
}

export interface ExportResult {
  /** Items that this call drainResult, including those that an interrupted export had taken. */
  readonly written: number;
  /** Items of this job that the file now has. */
  readonly inFile: number;
  /** Whether the file was begun by an export that was interrupted. */
  readonly resumed: boolean;
  /** Texts that were no JSON object, as somebody else may have put into the list: they stand under `value`. */
  readonly foreign: number;
}

/**
 * Write the current entries of the items list to a file.
 * @throws RefusedError while another process writes the file; CrawlnodeError when it cannot be written. Unwritten items
 *   are then still in the store, and a second call continues.
 */
export async function exportItems(options: ExportOptions): Promise<Exported> {
  const { frontier, target, records, staleMs } = options;
  const { id: feed, path, format, overwrite, escapeFormulas } = target;
  const writer = { feed, host: os.hostname(), path, pid: process.pid, owner: randomUUID(), format };
  const file = await openFeedWriter({
    ...{ feeds: frontier.feeds, writer, path, format, overwrite, escapeFormulas, records, staleMs },
    anew: overwrite,
    log: silentLogger,
  });
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
    resumed: overwrite && before > 0,
  };
}

/** Take one batch while the previous one is written. */
async function move(file: FeedFile, writer: FeedWriter, options: ExportOptions): Promise<void> {
  const { frontier, max, onProgress } = options;
  const before = file.items;
  // Only the current entries: a running crawl may add items faster than they are exported.
  let left = Math.min(max, (await frontier.count()).items);
  for (let taken = -1; taken !== 0; left -= taken) {
    const take = left > 0 ? frontier.feeds.take(writer, Math.min(left, BATCH)) : 0;
    const [takeResult, drainResult] = await Promise.allSettled([take, file.drain()]);
    if (drainResult.status === 'rejected') throw drainResult.reason;
    if (takeResult.status === 'rejected') throw takeResult.reason;
    taken = takeResult.value;
    onProgress(file.items - before);
  }
}
