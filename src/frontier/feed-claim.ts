/** A feed file has one writer at a time: the errors of other writers, and the check whether a writer still lives. */
import { CrawlnodeError, FeedHeldError, RefusedError } from '../errors.js';
import { type FeedWriter, isRestOwner } from '../feed-outbox.js';

/** Refuses (exit 3) a second writer and names the first. */
export function feedHeld(
  path: string,
  { host, pid, owner }: Pick<FeedWriter, 'host' | 'pid'> & { readonly owner?: string | null },
): FeedHeldError {
  const holder = `process ${pid} on ${host}`;
  return new FeedHeldError(
    `${path} is being written by ${holder}: give this node another file, or stop the other writer`,
    { holder, isBrief: owner ? isRestOwner(owner) : null },
  );
}

/** Refuses a writer that has lost its feed, because it sent no heartbeat for too long or the feed was reset. */
export function feedTaken(path: string): RefusedError {
  return new RefusedError(
    `${path} is written by somebody else now, or its crawl was reset meanwhile: see what it holds, and go on with -o`,
    { code: 'feed_held' },
  );
}

/** Refuses to write a second format into a file. */
export function otherFeedFormat({ path, format }: FeedWriter, before: string): RefusedError {
  return new RefusedError(
    `this crawl has written ${path} as ${before}, and ${format} cannot follow in the same file: go on with ${before}, or give another file`,
    { code: 'feed_format' },
  );
}

/** The stored checkpoint is older than the writer's: the store was restored from an older copy, or flushed. */
export function feedRolledBack(): CrawlnodeError {
  return new CrawlnodeError('feed_rolled_back', 'the store knows less of this file than was written to it');
}

/** What is recorded of a feed is gone, or contradicts itself: going on would write items twice, or leave some out. */
export function feedRecordDamaged(path: string): CrawlnodeError {
  return new CrawlnodeError(
    'outbox_damaged',
    `what the store has recorded of ${path} is gone or damaged: stop the nodes and run "crawlnode doctor SPIDER --repair", which says what it means for the file`,
  );
}

/** Whether a process of this machine has this pid now. Signal 0 only checks. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
