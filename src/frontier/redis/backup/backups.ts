/** Backups of a crawl in Redis: reads the entries of each part in bounded steps, and restores them. */
import type { Backups } from '../../backup/entry.js';
import { readParts } from '../../backup/parts.js';
import type { FailedList } from '../../frontier.js';
import { refuseOtherFormat } from '../connection/preflight.js';
import type { Ask } from '../connection/scan.js';
import { readCookieNews } from '../cookies/cookie-reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { readDupefilter } from './dupefilter.js';
import { readCrawl } from './read-crawl.js';
import { readFeedEntries, readList, readSeeds, readStats } from './read-seeds-feeds-items.js';
import { redisRestore } from './restore.js';

/** @throws RefusedError by `read` for a crawl of another data format, whatever is asked for. */
export function redisBackups(crawl: CrawlAccess, failed: FailedList): Backups {
  const { connection } = crawl;
  const { keys, shape } = crawl.options;
  const ask: Ask = (question) => connection.patiently(question);
  return {
    async *read(parts) {
      await ask((client) => refuseOtherFormat(client, keys));
      yield* readParts(parts, {
        queue: () => readCrawl(crawl, ask),
        cookies: async (since, anewAt) =>
          readCookieNews(await crawl.call('cookies', { known: since, anewAt })),
        failed: (cursor, max) => failed.list(cursor, max),
        dupefilter: () => readDupefilter(ask, keys, shape.dupefilter),
        seeds: () => readSeeds(ask, keys),
        feeds: (withItems) => readFeedEntries(ask, keys, withItems),
        items: () => readList(ask, keys.items),
        stats: () => readStats(ask, keys),
      });
    },
    ...redisRestore(crawl),
  };
}
