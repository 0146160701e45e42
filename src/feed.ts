/**
 * A feed: a file that committed items are put into. What the store that keeps the items until they are written and the
 * writer of the file say to each other.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Who writes a feed: one at a time drains its outbox. */
export interface FeedWriter {
  /** Stable over restarts: `feedId`. */
  readonly feed: string;
  readonly host: string;
  /** Absolute, as the file was named. */
  readonly path: string;
  readonly pid: number;
  /** Random per writer, so that two writers of one file are told apart. */
  readonly owner: string;
  /** What the file is written in, for whoever finishes it after a death: its name need not say it. */
  readonly format?: string;
}

/** How far the file of a feed is known to be safely written. */
export interface FeedCheckpoint {
  /** Items written since the feed's first; the next one in the outbox is `sequence` + 1. */
  readonly sequence: number;
  readonly lengthBytes: number;
  /** The CSV header, or other text the writer needs to go on with the same file. */
  readonly header: string;
}

/** How a writer comes to a feed. */
export interface FeedOpening {
  /** A writer that gives no sign for so long may be replaced. */
  readonly staleMs: number;
  /** Forget the checkpoint, unless items wait for the file or an export to it has not ended. */
  readonly anew?: boolean;
  /**
   * A flush of the crawl (`JoinOptions.flushOnStart`) forgets the checkpoint under this writer, too, unless there is more
   * to be written, or was since this call.
   */
  readonly overwrites?: boolean;
}

/** Where committed items wait until they are written; `frontier.feeds` is one. */
export interface Outbox {
  /**
   * Register as the one writer of a feed.
   * @returns the checkpoint to truncate the file to, or null when the job has none for it.
   * @throws RefusedError when a live writer holds it (alive: seen within `staleMs`, and on this host its pid runs), or
   *   the file is written in another format so far.
   */
  open(writer: FeedWriter, options: FeedOpening): Promise<FeedCheckpoint | null>;
  /** Up to `max` waiting items in order, after `sequence`, which is that of the last checkpoint. */
  read(feed: string, sequence: number, max: number): Promise<readonly string[]>;
  /**
   * Record that everything up to the checkpoint is on disk and drop it from the outbox; also renews the writer.
   * @param after sequence of the checkpoint before it. @throws CrawlnodeError `feed_rolled_back`, as `read` does, when
   *   the store knows another one: it was restored from an older copy, or flushed, and `open` tells where it stands.
   */
  checkpoint(writer: FeedWriter, checkpoint: FeedCheckpoint, after?: number): Promise<void>;
  /** The writer is done; what waits stays. `exported`: it has written all that it meant to take. */
  release(writer: FeedWriter, options?: { readonly exported?: boolean }): Promise<void>;
}

/**
 * A feed's id, stable over restarts, whether the file is there yet or not. By whichever name the file is reached it is
 * one feed: two writers would write over each other.
 */
export function feedId(host: string, absolutePath: string): string {
  return createHash('sha256')
    .update(`${host}\0${realPathOf(absolutePath)}`)
    .digest('hex')
    .slice(0, 16);
}

/** Links followed, as far as the path exists. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const folder = path.dirname(file);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === file) return file;
    const place = path.join(realPathOf(folder), path.basename(file));
    const target = danglingTarget(place);
    return target === null ? place : realPathOf(target);
  }
}

/** What a link leads to that is not there yet: whoever opens the link to write makes it. Null for anything else. */
function danglingTarget(file: string): string | null {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return null;
  return path.resolve(path.dirname(file), readlinkSync(file));
}
