/**
 * Feed files whose writer died on this machine. Any node that ends here writes the items that were committed for them. So
 * no item is missing after a kill, even if that node is never started again. `items export` does the same. A file with a
 * live writer is left alone. Only files that this user's records or FEEDS name are written: the store contains the waiting
 * items, but does not decide where they are written.
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
 * Write the items that wait for files of dead writers on this machine, and see that these files are as the crawl has left them:
 * a writer that ended in good order has released its file.
 * @param outbox from a snapshot of the crawl
 * @returns why items are in no file, a sentence; null when all are
 * @throws FrontierUnavailableError when the store cannot be asked.
 */
export async function writeOrphanedFeeds(
  outbox: readonly OutboxSnapshot[],
  options: FeedsOfCrawl,
): Promise<string | null> {
  let trouble: string | null = null;
  for (const { feed, waiting, writerPid } of outbox) {
    const isLeft = waiting > 0 || writerPid !== null;
    const orphan = isLeft ? orphanOf({ feed, waiting }, options) : null;
    if (orphan === null) continue;
    const { path } = orphan.file;
    try {
      if (!existsSync(path)) {
        // One that only FEEDS names belongs to another container with the same host name. Creating it here would be wrong.
        if (options.records.find(feed) === null) continue;
        throw new CrawlnodeError('feed_changed', `${path} is gone. ${withoutFile(path)}`);
      }
      const items = await writeOrphanedFeed(orphan, options);
      if (items > 0)
        options.log.info({ file: path, items }, 'wrote committed items of a node that died on this machine');
    } catch (error) {
      if (error instanceof RefusedError) continue;
      if (error instanceof FrontierUnavailableError) throw error;
      const why = messageOf(error);
      options.log.error({ file: path, waiting }, `a node that died on this machine has left a file: ${why}`);
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
