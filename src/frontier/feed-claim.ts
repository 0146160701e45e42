/** Who may write a feed file: one writer at a time, told from one that died without giving it back. */
import { CrawlnodeError, RefusedError } from '../errors.js';
import type { FeedWriter } from '../feed.js';

/** The refusal (exit 3) of a second writer, naming the first. */
export function heldBy(path: string, holder: Pick<FeedWriter, 'host' | 'pid'>): RefusedError {
  return new RefusedError(
    `${path} is being written by process ${holder.pid} on ${holder.host}: give this node another file, or stop the other writer`,
    { code: 'feed_held' },
  );
}

/** The refusal of a writer that gave no sign for too long, or whose feed a reset has forgotten. */
export function taken(path: string): RefusedError {
  return new RefusedError(
    `${path} is written by somebody else now, or its crawl was reset meanwhile: see what it holds, and go on with -o`,
    { code: 'feed_held' },
  );
}

/** The refusal of a file in two formats. */
export function writtenOtherwise({ path, format }: FeedWriter, before: string): RefusedError {
  return new RefusedError(
    `this crawl has written ${path} as ${before}, and ${format} cannot follow in the same file: go on with ${before}, or give another file`,
    { code: 'feed_format' },
  );
}

/** A store that was restored from an older copy, or whose crawl was flushed, knows less of a file than its writer. */
export function rolledBack(): CrawlnodeError {
  return new CrawlnodeError('feed_rolled_back', 'the store knows less of this file than was written to it');
}

/** Whether some process of this machine has this pid now; signal 0 only asks. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
