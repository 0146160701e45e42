/** A feed file that is not as the crawl has left it: the error, and the one way on. */
import { CrawlnodeError } from '../../errors.js';
import type { FeedChange } from '../../feed-outbox.js';
import { howMany } from '../../format-amounts.js';

/** `feed_changed`. Whoever catches it has the store know (`Outbox.noteChange`), so that every later run does. */
export class ChangedFeedError extends CrawlnodeError {
  readonly change: FeedChange;

  constructor(path: string, change: FeedChange) {
    super('feed_changed', `${changeOf(path, change)}. ${wayOn(path)}`);
    this.change = change;
  }
}

/** What happened to the file. */
export function changeOf(path: string, { what, items }: FeedChange): string {
  const gone = items === 0 ? '' : `: ${howMany(items, 'item')} may be lost`;
  return `${path} ${what}${gone}`;
}

/** What to do about it, so that nothing that waits is left in the store. */
export function wayOn(path: string): string {
  return (
    'Put the file back as it was, and run the same command again. If that is not possible, "crawlnode doctor SPIDER --accept-losses" goes on ' +
    `without what is lost, and "crawlnode items SPIDER export", or the next run, writes the items that wait to ${path}, behind what is left of it`
  );
}
