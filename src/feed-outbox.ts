/**
 * A feed is a file that committed items are written to. This is the interface between the writer of the file and the
 * store, which holds the items in an outbox until they are written. The `committed` method of an item pipeline is fed from
 * an outbox of the same kind: its writer is the node that calls the method, and its checkpoint has no length.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** The writer of a feed. A feed has one writer at a time. */
export interface FeedWriter {
  /** The `feedId`, which is stable over restarts. */
  readonly feed: string;
  readonly host: string;
  /** Absolute; symbolic links are not resolved. */
  readonly path: string;
  readonly pid: number;
  /** By `newOwner`: distinguishes two writers of one file. */
  readonly owner: string;
  /**
   * The format of the file. Another process that finishes the file after a crash needs it where the extension does not
   * give it.
   */
  readonly format?: string;
}

/** Why no more items may be committed. */
export interface FeedTrouble {
  readonly why: string;
  /** It does not pass by itself: somebody has changed the file, or another process writes it. */
  readonly isFinal: boolean;
}

/** The part of a feed file that is known to be on disk. */
export interface FeedCheckpoint {
  /** Items written since the feed's first; the next one in the outbox is `sequence` + 1. */
  readonly sequence: number;
  readonly lengthBytes: number;
  /** The CSV header, or other text that the writer needs to continue the same file. */
  readonly header: string;
  /** A digest of the last 4 KB before `lengthBytes`: a file of the right length may hold something else. */
  readonly end?: string;
}

/** What the store knows of a feed when its writer comes. */
export interface OpenedCheckpoint extends FeedCheckpoint {
  /** Somebody has accepted that the file has lost items: its writer goes on with what is left of it, and the next item is `sequence` + 1. */
  readonly isGivenUp?: boolean;
}

/** A feed file is not as the crawl has left it. */
export interface FeedChange {
  /** Follows its path in a sentence. */
  readonly what: string;
  /** How many items are gone that the store has no more; at most, where that cannot be told. */
  readonly items: number;
}

/** Options for opening a feed. */
export interface FeedOpening {
  /** A writer that has not renewed its claim for this long may be replaced. */
  readonly staleMs: number;
  /** Delete the checkpoint, unless items wait for the file or an export to it is unfinished. */
  readonly anew?: boolean;
  /**
   * A flush of the crawl (`JoinOptions.flushOnStart`) also deletes the checkpoint of this writer, unless items wait for
   * the file or have been written to it since this call.
   */
  readonly overwrites?: boolean;
}

/** In front of the owner of a writer that only writes what a dead node left. */
const REST = 'rest-';

/** A random name for a writer. @param restOnly it only writes what a dead node left, and then gives the file back */
export function newOwner({ restOnly = false } = {}): string {
  return `${restOnly ? REST : ''}${randomUUID()}`;
}

/** Whether the writer with this owner only writes what a dead node left. */
export function isRestOwner(owner: string): boolean {
  return owner.startsWith(REST);
}

/** Holds committed items until they are written to a file; `frontier.feeds` implements it. */
export interface Outbox {
  /**
   * Register as the only writer of a feed.
   * @returns the checkpoint to truncate the file to, or null when the job has no checkpoint for the file.
   * @throws RefusedError when a live writer holds the feed (its claim is younger than `staleMs` and, on this host, its
   *   process runs), or when the file was begun in another format.
   */
  open(writer: FeedWriter, options: FeedOpening): Promise<OpenedCheckpoint | null>;
  /** Up to `max` waiting items in order, after `sequence`, the sequence of the last checkpoint. */
  read(feed: string, sequence: number, max: number): Promise<readonly string[]>;
  /**
   * Record that everything up to the checkpoint is on disk, and delete those items from the outbox. This also renews the
   * claim of the writer.
   * @param after sequence of the previous checkpoint. @param written the items between the two. A store that lost its last
   *   second may have others there by now. @param unreadable how many of them were no items, because somebody overwrote them: they
   *   count as lost, but for those of an export, since other programs may push to the items list.
   * @throws CrawlnodeError `feed_rolled_back`, as `read` does, when the store has a different previous checkpoint, because
   *   it was restored from an older copy or flushed. `open` then returns the checkpoint of the store.
   */
  checkpoint(
    writer: FeedWriter,
    checkpoint: FeedCheckpoint,
    after?: number,
    written?: readonly string[],
    unreadable?: number,
  ): Promise<void>;
  /**
   * Record that the file of a feed is not as the crawl has left it. That stays until a writer sends a checkpoint, which says that
   * the file is sound again, or until somebody accepts it (`acceptLosses`, a reset).
   */
  noteChange(feed: string, change: FeedChange): Promise<void>;
  /** Give up the claim; waiting items stay. `exported`: an export to the file is complete. */
  release(writer: FeedWriter, options?: { readonly exported?: boolean }): Promise<void>;
}

/** The outboxes of item pipelines. */
export interface PipelineOutboxes extends Outbox {
  /** How many committed items are not known to be accepted. O(1). */
  waiting(outbox: string): Promise<number>;
}

/**
 * The id of a feed. It is stable over restarts and does not depend on whether the file exists. All paths that lead to one
 * file give one id, because two writers would overwrite each other.
 */
export function feedId(host: string, absolutePath: string): string {
  return createHash('sha256')
    .update(`${host}\0${realPathOf(absolutePath)}`)
    .digest('hex')
    .slice(0, 16);
}

const PIPELINE_PREFIX = 'pipeline-';

/**
 * The id of the outbox of an item pipeline. It belongs to the crawl: every node has the same one.
 * @param name the path of the module relative to the project folder
 */
export function pipelineOutboxId(name: string): string {
  return `${PIPELINE_PREFIX}${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
}

/**
 * Whether an outbox is that of an item pipeline. The store puts `{ id, item }` there instead of the item (`lua/feeds/feeds.lua`
 * checks the same prefix), and a crawl is not complete while items wait in one.
 */
export function isPipelineOutbox(feed: string): boolean {
  return feed.startsWith(PIPELINE_PREFIX);
}

/** The path with its symbolic links resolved, as far as it exists. */
function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const folder = path.dirname(file);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder === file) return file;
    const resolved = path.join(realPathOf(folder), path.basename(file));
    const target = danglingTarget(resolved);
    return target === null ? resolved : realPathOf(target);
  }
}

/** The target of a dangling link, which opening the link for writing would create. Null for anything else. */
function danglingTarget(file: string): string | null {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return null;
  return path.resolve(path.dirname(file), readlinkSync(file));
}
