/**
 * Feed files whose writer died on this machine. Any node that ends here writes the items that were committed for them, so
 * that no line is missing after a kill, even if nobody starts that node again. `items export` does the same. The file of
 * a live writer is left alone.
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
  /** The setting FEEDS: formats of files whose name and whose writer do not say it. */
  readonly formats: Settings['FEEDS'];
}

/** Write what waits for files of dead writers on this machine. @throws FrontierUnavailableError when the store cannot be asked. */
export async function writeOrphanedFeeds(options: OrphansOptions): Promise<void> {
  const { outbox } = await options.frontier.snapshot();
  for (const feed of outbox) {
    // A file that is not there is another container's of the same host name: creating it would be wrong.
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
 * Write what waits for one file of this machine. @returns how many items.
 * @throws RefusedError while its writer lives; CrawlnodeError when the file cannot be written, or is not as it was left:
 *   its name may be a link, which leads elsewhere by now.
 */
export async function writeOrphanedFeed(
  { feed, host, path, format: known }: Pick<OutboxSnapshot, 'feed' | 'host' | 'path' | 'format'>,
  { frontier, staleMs, log, formats }: OrphansOptions,
): Promise<number> {
  if (feedId(host, path) !== feed) {
    const what = `${path} leads to another file than when it was written: have it lead to that one again`;
    throw new CrawlnodeError('feed_elsewhere', what);
  }
  const format = feedFormat(path, known ?? formats[path]?.format);
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
