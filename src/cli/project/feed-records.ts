/** Where the files are recorded that this user's nodes have written: nobody else can write there. */
import path from 'node:path';
import type { OpenOptions } from '../../frontier/open-options.js';
import { FeedRecords } from '../../pipelines/feeds/feed-records.js';
import type { Context } from '../context.js';
import { stateHome } from './user-folders.js';

/** The records of a crawl, in the folder crawlnode/feeds of the user's state; none where that is not safe. */
export function feedRecords({ env }: Pick<Context, 'env'>, { keys }: Pick<OpenOptions, 'keys'>): FeedRecords {
  const state = stateHome(env);
  return new FeedRecords(state === null ? null : path.join(state, 'crawlnode', 'feeds'), keys.requests);
}
