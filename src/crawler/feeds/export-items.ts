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
import { type FeedFile, openFeedWriter } from '../../pipelines/feed-writer.js';
import type { FeedTarget } from './open-feeds.js';

/** Bounds the time that the script in the store runs. */
const BATCH = 1_000;

export interface ExportOptions {
  readonly frontier: Frontier;
  readonly target: FeedTarget;
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
  /** List entries that are not JSON objects, which another program may have appended. */
  readonly foreign: number;
}

/**
 * Write the current entries of the items list to a file.
 * @throws RefusedError while another process writes the file; CrawlnodeError when it cannot be written. Unwritten items
 *   are then still in the store, and a second call continues.
 */
export async function exportItems(options: ExportOptions): Promise<ExportResult> {
  const { frontier, target, staleMs } = options;
  const { id: feed, path, format, overwrite } = target;
  const writer = { feed, host: os.hostname(), path, pid: process.pid, owner: randomUUID(), format };
  let foreign = 0;
  const feeds = {
    open: frontier.feeds.open.bind(frontier.feeds),
    checkpoint: frontier.feeds.checkpoint.bind(frontier.feeds),
    release: frontier.feeds.release.bind(frontier.feeds),
    async read(...args: Parameters<typeof frontier.feeds.read>) {
      const texts = await frontier.feeds.read(...args);
      return texts.map((text) => {
        const line = toObjectLine(text);
        if (line !== text) foreign += 1;
        return line;
      });
    },
  };
  const file = await openFeedWriter({
    ...{ feeds, writer, path, format, overwrite, staleMs },
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
    ...{ written: file.items - before, inFile: file.items, foreign },
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

/** The item as a JSON object on one line. Any other value is wrapped in an object, in the field `value`. */
function toObjectLine(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = text;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) return JSON.stringify({ value });
  return text.includes('\n') ? JSON.stringify(value) : text;
}
