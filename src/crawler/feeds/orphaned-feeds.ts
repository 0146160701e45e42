/**
 * Feed files whose writer died on this machine. Every node that ends on the machine writes the items that were committed
 * for them, so that no line is missing even if the dead node is never restarted. `items export` does the same. Files of
 * live writers are skipped.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { CrawlnodeError, RefusedError } from '../../errors.js';
import { feedId } from '../../feed.js';
import type { Frontier, OutboxSnapshot } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import { feedFormat } from '../../pipelines/feed-format.js';
import { openFeedWriter } from '../../pipelines/feed-writer.js';
import type { Settings } from '../../settings/schema.js';

export interface OrphansOptions {
  readonly frontier: Frontier;
  readonly staleMs: number;
  readonly log: Logger;
  /** The setting FEEDS, which has the formats of files where neither the extension nor the dead writer gives it. */
  readonly formats: Settings['FEEDS'];
}

/** Write the waiting items of dead writers on this machine. @throws FrontierUnavailableError */
export async function writeOrphanedFeeds(options: OrphansOptions): Promise<void> {
  const { outbox } = await options.frontier.snapshot();
  for (const feed of outbox) {
    // A missing file belongs to another container with the same host name, so it must not be created.
    if (feed.waiting === 0 || feed.host !== os.hostname() || !existsSync(feed.path)) continue;
    try {
      const items = await writeOrphanedFeed(feed, options);
      options.log.info(
        { file: feed.path, items },
        'wrote items that a node which died on this machine had committed',
      );
    } catch (error) {
      if (error instanceof RefusedError) continue;
      options.log.warn(
        { file: feed.path, waiting: feed.waiting, error: String(error) },
        'items of a node that died on this machine still wait',
      );
    }
  }
}

/**
 * Write the waiting items of one file of this machine. @returns their number.
 * @throws RefusedError while its writer lives; CrawlnodeError when the file cannot be written, was changed, or its path is
 *   a symbolic link that now leads to another file.
 */
export async function writeOrphanedFeed(
  { feed, host, path, format: recordedFormat }: Pick<OutboxSnapshot, 'feed' | 'host' | 'path' | 'format'>,
  { frontier, staleMs, log, formats }: OrphansOptions,
): Promise<number> {
  if (feedId(host, path) !== feed) {
    const what = `${path} leads to another file than when it was written: have it lead to that one again`;
    throw new CrawlnodeError('feed_elsewhere', what);
  }
  const format = feedFormat(path, recordedFormat ?? formats[path]?.format);
  const writer = { feed, host, path, pid: process.pid, owner: randomUUID(), format };
  const file = await openFeedWriter({
    ...{ feeds: frontier.feeds, writer, path, format, staleMs, log },
    overwrite: false,
  });
  try {
    return await file.drain();
  } finally {
    await file.close();
  }
}
