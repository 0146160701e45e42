/**
 * Feed files without a live writer on this machine. Any node that ends here restores each to its checkpoint and writes the items that
 * were committed for it. So no item is missing after a kill, even if that node is never started again. `items export` does the
 * same. A file that has lost items makes this run and every later one fail, wherever it runs: the store knows of it. Only files that
 * this user's records or FEEDS name are written: the store contains the waiting items, but does not decide where they are written.
 */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { CrawlnodeError, FrontierUnavailableError, messageOf, RefusedError } from '../../errors.js';
import { feedId } from '../../feed-outbox.js';
import type { OutboxSnapshot } from '../../frontier/frontier.js';
import type { FeedLayout } from '../../pipelines/feeds/formats/feed-format.js';
import { withoutFile } from '../../pipelines/feeds/restore-feed.js';
import { type FeedTarget, feedsOfSettings } from './feed-targets.js';
import { type FeedsOfCrawl, openTarget, writerOf } from './open-target.js';

/** The items that wait in the store for a file of this machine, and the file. */
export interface OrphanedFeed {
  readonly feed: string;
  readonly waiting: number;
  readonly file: Pick<
    FeedTarget,
    'path' | 'format' | 'storeEmpty' | 'batchItems' | 'itemFilter' | keyof FeedLayout
  > & { readonly template?: string };
}

/** The file of a feed by this user's records or FEEDS; null when neither names it. */
export function orphanOf(
  { feed, waiting }: Pick<OutboxSnapshot, 'feed' | 'waiting'>,
  { records, settings }: Pick<FeedsOfCrawl, 'records' | 'settings'>,
): OrphanedFeed | null {
  const file = records.find(feed) ?? feedsOfSettings(settings).find(({ id }) => id === feed);
  return file === undefined ? null : { feed, waiting, file };
}

/**
 * Write the items that wait for files without a live writer on this machine, and see that these files are as the crawl has left them.
 * A file is its user's, who may take it away, once its writer has left and the crawl was finished or its run has ended.
 * @returns why items are in no file, a sentence; null when all are
 * @throws FrontierUnavailableError when the store cannot be asked.
 */
export async function writeOrphanedFeeds(crawl: FeedsOfCrawl): Promise<string | null> {
  let trouble: string | null = null;
  const { outbox, run } = await crawl.frontier.snapshot();
  for (const feed of outbox) {
    if (isPipelineOutbox(feed.feed)) continue;
    const isOfCrawl = feed.waiting > 0 || feed.writerPid !== null || feed.seenAtMs >= (run?.startedAt ?? 0);
    const path = feed.path || feed.feed;
    try {
      if (feed.change !== null) throw new ChangedFeedError(path, feed.change)
      const orphan = isOfCrawl ? orphanOf(feed, crawl) : null;
      if (orphan === null) continue;
      const items = await writeOrphanedFeed(orphan, crawl);
      if (items > 0)
        crawl.log.info({ file: path, items }, 'wrote committed items of a node that died on this machine');
    } catch (error) {
      if (error instanceof RefusedError) continue;
      if (error instanceof FrontierUnavailableError) throw error;
      const why = messageOf(error);
      crawl.log.error({ file: path, waiting: feed.waiting }, why);
      trouble ??= why;
    }
  }
  return trouble;
}

/**
 * Write the items that wait for one file of this machine.
 * @returns how many items.
 * @throws RefusedError while its writer lives; CrawlnodeError when the file cannot be written, or has changed: its name may
 *   be a link that leads elsewhere by now.
 */
export async function writeOrphanedFeed({ feed, file }: OrphanedFeed, crawl: FeedsOfCrawl): Promise<number> {
  const { format, escapeFormulas = false, fields = null, indent = 0, storeEmpty = true } = file;
  const { template, batchItems = 0, itemFilter = null } = file;
  const path = template ?? file.path;
  if (feedId(os.hostname(), path) !== feed) {
    const what = `${path} leads to another file than when it was written: have it lead to that one again`;
    throw new CrawlnodeError('feed_elsewhere', what);
  }
  const target = {
    ...{ id: feed, path, format, overwrite: false },
    ...{ escapeFormulas, fields, indent, storeEmpty, batchItems, itemFilter },
  };
  const writing = await openTarget(target, writerOf(target, { restOnly: true }), crawl);
  try {
    return await writing.drain();
  } finally {
    await writing.close();
  }
}
