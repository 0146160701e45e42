/** How the feed files of this machine differ from what the store knows of them, without writing to any: for `doctor`. */
import os from 'node:os';
import { type FeedChange, isPipelineOutbox } from '../../feed-outbox.js';
import { isRunning } from '../../frontier/feed-claim.js';
import type { OutboxSnapshot, Snapshot } from '../../frontier/frontier.js';
import { FeedDisk } from '../../pipelines/feeds/feed-disk.js';
import { formatFor } from '../../pipelines/feeds/formats/feed-format.js';
import { examineFeed } from '../../pipelines/feeds/restore-feed.js';
import type { FeedsOfCrawl } from './open-target.js';
import { goneFile, isOfCrawl, orphanOf } from './orphaned-feeds.js';

/** A feed file that is not as the crawl has left it. */
export interface ChangedFeed {
  readonly feed: string;
  readonly path: string;
  readonly change: FeedChange;
  /** False where it is its user's already, who may have taken it away. */
  readonly isOfCrawl: boolean;
}

/** Compare each file of this machine that nobody writes now with its checkpoint. */
export async function examineFeeds(
  { outbox, run }: Pick<Snapshot, 'outbox' | 'run'>,
  crawl: Pick<FeedsOfCrawl, 'records' | 'settings'>,
): Promise<ChangedFeed[]> {
  const changed: ChangedFeed[] = [];
  for (const feed of outbox) {
    const { writerPid } = feed;
    const isHere = feed.host === os.hostname() && !isPipelineOutbox(feed.feed);
    if (!isHere || (writerPid !== null && isRunning(writerPid))) continue;
    const change = await changeOf(feed, crawl);
    if (change !== null) changed.push({ feed: feed.feed, ...change, isOfCrawl: isOfCrawl(feed, run) });
  }
  return changed;
}

/** Null also for what this user has no record of, and for a feed in several files, whose full ones may have been moved away. */
async function changeOf(
  feed: OutboxSnapshot,
  crawl: Pick<FeedsOfCrawl, 'records' | 'settings'>,
): Promise<Pick<ChangedFeed, 'path' | 'change'> | null> {
  const orphan = orphanOf(feed, crawl);
  const { checkpoint } = feed;
  if (orphan === null || checkpoint === null || checkpoint.isGivenUp || orphan.file.template !== undefined)
    return null;
  const { path, format } = orphan.file;
  const gone = goneFile(orphan);
  if (gone !== null) return { path, change: gone };
  const disk = await FeedDisk.look(path);
  if (disk === null) return null;
  try {
    const own = crawl.records.find(feed.feed);
    const layout = formatFor(format, orphan.file);
    const change = await examineFeed({
      ...{ path, disk, format: layout, checkpoint, own, hasLines: format === 'jsonl' },
    });
    return change === null ? null : { path, change };
  } finally {
    await disk.close();
  }
}
