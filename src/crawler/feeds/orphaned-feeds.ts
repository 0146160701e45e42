/**
 * Feed files without a live writer on this machine. Any node that ends here restores each to its checkpoint and writes the items that
 * were committed for it. So no item is missing after a kill, even if that node is never started again. `items export` does the
 * same. A file that has lost items makes this run and every later one fail, wherever it runs: the store knows of it. Only files that
 * this user's records or FEEDS name are written: the store contains the waiting items, but does not decide where they are written.
 */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { CrawlnodeError, FrontierUnavailableError, messageOf, RefusedError } from '../../errors.js';
import { type FeedChange, feedId, isPipelineOutbox } from '../../feed-outbox.js';
import type { OutboxSnapshot, RunSnapshot, Snapshot } from '../../frontier/frontier.js';
import { ChangedFeedError } from '../../pipelines/feeds/changed-feed.js';
import type { FeedDescription } from '../../pipelines/feeds/formats/feed-format.js';
import { feedsOfSettings } from './feed-targets.js';
import type { FeedsOptions } from './open-feeds.js';
import { type FeedsOfCrawl, openTarget, writerOf } from './open-target.js';
import { openWhenFree } from './open-when-free.js';

/** What the store has of a file of this machine, and the file. */
export interface OrphanedFeed {
  readonly feed: string;
  readonly checkpoint: OutboxSnapshot['checkpoint'];
  readonly file: FeedDescription & { readonly template?: string };
}

/** The file of a feed by this user's records or FEEDS; null when neither names it. */
export function orphanOf(
  { feed, checkpoint }: Pick<OutboxSnapshot, 'feed' | 'checkpoint'>,
  { records, settings }: Pick<FeedsOfCrawl, 'records' | 'settings'>,
): OrphanedFeed | null {
  const file = records.find(feed) ?? feedsOfSettings(settings).find(({ id }) => id === feed);
  return file === undefined ? null : { feed, checkpoint, file };
}

/**
 * Write the items that wait for files without a live writer on this machine, and see that these files are as the crawl has left them.
 * @param snapshot of the crawl, after this node has released its own files
 * @returns why items are in no file, a sentence; null when all are
 * @throws FrontierUnavailableError when the store cannot be asked.
 */
export async function writeOrphanedFeeds(
  { outbox, run }: Pick<Snapshot, 'outbox' | 'run'>,
  crawl: FeedsOfCrawl & Pick<FeedsOptions, 'drain'>,
): Promise<string | null> {
  let trouble: string | null = null;
  for (const feed of outbox) {
    if (isPipelineOutbox(feed.feed)) continue;
    const { waiting, change } = feed;
    const orphan = isOfCrawl(feed, run) || change !== null ? orphanOf(feed, crawl) : null;
    const path = orphan?.file.path ?? feed.path;
    try {
      // Only this machine can see that it was mended.
      if (orphan === null && change !== null) throw new ChangedFeedError(`${path} on ${feed.host}`, change);
      if (orphan === null || isElsewhere(orphan, crawl)) continue;
      // A node that ends at the same time may look at it just now: each of them is to find what is wrong with it.
      const items = await openWhenFree(() => writeOrphanedFeed(orphan, crawl), { ...crawl, file: path });
      if (items > 0)
        crawl.log.info({ file: path, items }, 'wrote committed items of a node that died on this machine');
    } catch (error) {
      if (error instanceof RefusedError) continue;
      if (error instanceof FrontierUnavailableError) throw error;
      const why = messageOf(error);
      crawl.log.error({ file: path, waiting }, why);
      trouble ??= why;
    }
  }
  return trouble;
}

/** Whether a file that holds items is not there. One of several may have been moved away when it was full. */
export function goneFile({ checkpoint, file }: OrphanedFeed): FeedChange | null {
  const { sequence = 0, isGivenUp = false } = checkpoint ?? {};
  const isGone = sequence > 0 && !isGivenUp && (file.batchItems ?? 0) === 0 && !existsSync(file.path);
  return isGone ? { what: 'is gone', items: sequence } : null;
}

/** Whether the file is part of the crawl. Its user may take it away once its writer has left and the crawl or its run has ended. */
export function isOfCrawl(
  { waiting, writerPid, seenAtMs }: OutboxSnapshot,
  run: Pick<RunSnapshot, 'startedAt'> | null,
): boolean {
  return waiting > 0 || writerPid !== null || seenAtMs >= (run?.startedAt ?? 0);
}

/** Whether the file is that of another container with the same host name: only FEEDS names it, and creating it here would be wrong. */
export function isElsewhere(
  { feed, file }: OrphanedFeed,
  { records }: Pick<FeedsOfCrawl, 'records'>,
): boolean {
  return records.find(feed) === null && !existsSync(file.path);
}

/**
 * Write the items that wait for one file of this machine, where it is as the crawl has left it.
 * @returns how many items.
 * @throws RefusedError while its writer lives; CrawlnodeError when the file cannot be written, or has changed: its name may
 *   be a link that leads elsewhere by now.
 */
export async function writeOrphanedFeed(orphan: OrphanedFeed, crawl: FeedsOfCrawl): Promise<number> {
  const { feed, file } = orphan;
  const path = file.template ?? file.path;
  if (feedId(os.hostname(), path) !== feed) {
    const what = `${path} leads to another file than when it was written: have it lead to that one again`;
    throw new CrawlnodeError('feed_elsewhere', what);
  }
  const gone = goneFile(orphan);
  if (gone !== null) {
    await crawl.frontier.feeds.noteChange(feed, gone);
    throw new ChangedFeedError(path, gone);
  }
  const target = { ...file, id: feed, path, overwrite: false };
  const writing = await openTarget(target, writerOf(target, { restOnly: true }), crawl);
  try {
    return await writing.drain();
  } finally {
    await writing.close();
  }
}
