/** Open the feed files before a crawl, and write the remaining items after it. */
import type { Frontier } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import { type FeedRecords, noRecords } from '../../pipelines/feed-records.js';
import type { Settings } from '../../settings/schema.js';
import { type FeedsOptions, type FeedTarget, type OpenFeeds, openFeeds } from './open-feeds.js';
import { writeOrphanedFeeds } from './orphaned-feeds.js';

/** Options for the feed files of a crawl. */
export interface FeedsPlan {
  readonly frontier: Frontier;
  readonly settings: Settings;
  readonly targets: readonly FeedTarget[];
  /** Where this user's files are recorded; nowhere unless told. */
  readonly records?: FeedRecords;
  /** Also write what nodes that died on this machine had committed for files of their own. */
  readonly writeOrphans: boolean;
  /** Aborted to leave at once. Unwritten items then stay in the frontier. */
  readonly force: AbortSignal;
  /** The rest of a grace time of `graceMs`, which begins when the crawl is told to leave. */
  graceLeftMs(graceMs: number): number;
  readonly log: Logger;
}

/** The result of a crawl and of writing its files. */
export interface WithFeeds<T> {
  readonly result: T;
  /** Why some items could not be written; null when all were. */
  readonly unwritten: string | null;
}

/**
 * Open the files, crawl, and write the remaining items.
 * @throws RefusedError when another writer holds a file; CrawlnodeError when a file cannot be written; any error of the
 *   crawl
 */
export async function withFeeds<T>(
  plan: FeedsPlan,
  crawl: (feeds: OpenFeeds) => Promise<T>,
): Promise<WithFeeds<T>> {
  const feeds = await openFeeds(plan.targets, optionsOf(plan));
  let result: T;
  try {
    result = await crawl(feeds);
  } catch (error) {
    await feeds.close(0);
    throw error;
  }
  return { result, unwritten: await closeFeeds(plan, feeds) };
}

async function closeFeeds(plan: FeedsPlan, feeds: OpenFeeds): Promise<string | null> {
  const { settings, force, log } = plan;
  if (force.aborted) return feeds.close(0);
  const unwritten = await feeds.close(plan.graceLeftMs(settings.SHUTDOWN_TIMEOUT * 1000));
  if (plan.writeOrphans && unwritten === null) {
    await writeOrphanedFeeds({ ...optionsOf(plan), settings }).catch((error: unknown) => {
      log.debug({ error: String(error) }, 'looking for items of nodes that died here failed');
    });
  }
  return unwritten;
}

function optionsOf({ frontier, settings, records = noRecords, log }: FeedsPlan): FeedsOptions {
  const { NODE_TIMEOUT, FEED_OUTBOX_LIMIT } = settings;
  return { frontier, staleMs: NODE_TIMEOUT * 1000, maxWaiting: FEED_OUTBOX_LIMIT, records, log };
}
