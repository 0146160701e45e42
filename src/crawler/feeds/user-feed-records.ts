/** The records of the feed files that this user's nodes have written, in a folder that only this user can write to. */
import path from 'node:path';
import { stateHome } from '../../disk/user-folders.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import { FeedRecords } from '../../pipelines/feeds/feed-records.js';

/**
 * The records of a crawl, in the folder crawlnode/feeds of the user's state folder; none when that folder is not safe.
 * @param env names the state folder, as the XDG Base Directory Specification says
 */
export function userFeedRecords(
  env: Readonly<Record<string, string | undefined>>,
  { keys }: Pick<OpenOptions, 'keys'>,
): FeedRecords {
  const state = stateHome(env);
  return new FeedRecords(state === null ? null : path.join(state, 'crawlnode', 'feeds'), keys.requests);
}
