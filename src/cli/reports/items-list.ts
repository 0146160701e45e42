/** `items S list`: items of the list, one line of JSON each. They stay in the list. */
import { itemOfText } from '../../crawler/feeds/listed-items.js';
import { type CrawlName, crawlName } from '../../crawler/project/crawls-in-store.js';
import { howMany, n } from '../../format-amounts.js';
import type { Frontier } from '../../frontier/frontier.js';
import { type Context, note, printJsonLine } from '../context.js';

/** Print the first items. @param limit at most so many */
export async function printItems(
  context: Context,
  crawl: CrawlName,
  frontier: Pick<Frontier, 'feeds' | 'count'>,
  limit: number,
): Promise<void> {
  const total = (await frontier.count()).items;
  const texts = total === 0 ? [] : await frontier.feeds.peek(0, limit);
  for (const text of texts) printJsonLine(context, itemOfText(text));
  const name = crawlName(crawl);
  if (texts.length === 0) {
    note(
      context,
      `${name}: the items list is empty. Items of a crawl with -o, -O or FEEDS are in its files, and "items export" has moved those that were exported`,
    );
  } else if (texts.length < total) {
    note(context, `${name}: the first ${n(texts.length)} of ${howMany(total, 'item')}; --limit N shows more`);
  }
}
