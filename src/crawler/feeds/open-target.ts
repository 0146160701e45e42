/** Become the writer of a file of items. */
import os from 'node:os';
import { type FeedWriter, newOwner } from '../../feed-outbox.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';
import type { FeedRecords } from '../../pipelines/feeds/feed-records.js';
import { type FeedFile, type FeedOptions, openFeedWriter } from '../../pipelines/feeds/feed-writer.js';
import type { Settings } from '../../settings/schema.js';
import type { FeedTarget } from './feed-targets.js';
import { loadItemFilter } from './item-filter.js';

/** The crawl that files belong to. */
export interface FeedsOfCrawl {
  readonly frontier: Frontier;
  readonly settings: Settings;
  /** Where this user's files are recorded. */
  readonly records: FeedRecords;
  readonly log: Logger;
}

/** This process as the writer of a file. @param how `restOnly`: it writes what a dead writer left, and no more */
export function writerOf(
  { id: feed, path, format }: Pick<FeedTarget, 'id' | 'path' | 'format'>,
  how: Parameters<typeof newOwner>[0] = {},
): FeedWriter {
  return { feed, host: os.hostname(), path, pid: process.pid, owner: newOwner(how), format };
}

/**
 * Open the file.
 * @throws FeedHeldError while another process writes it; CrawlnodeError when it cannot be written; SettingsError for its filter
 */
export async function openTarget(
  { id: _, itemFilter = null, isStdout: __, ...target }: FeedTarget,
  writer: FeedWriter,
  { frontier, settings, records, log }: FeedsOfCrawl,
  how: Pick<FeedOptions, 'anew' | 'stdout' | 'onRendered'> = {},
): Promise<FeedFile> {
  const accepts = await loadItemFilter(itemFilter);
  const staleMs = settings.NODE_TIMEOUT * 1000;
  return openFeedWriter({
    ...{ ...target, ...how, feeds: frontier.feeds, writer, staleMs, itemFilter, accepts, records, log },
  });
}
