/** The records of feed files as the executable finds them in a test. */
import path from 'node:path';
import { FeedRecords } from '../../src/pipelines/feed-records.js';

/** Those of a spider's unnamed crawl, in the folder that `global-setup.ts` gives. */
export function recordsOf(spider: string): FeedRecords {
  return new FeedRecords(path.join(process.env.XDG_STATE_HOME!, 'crawlnode', 'feeds'), `${spider}:requests`);
}
