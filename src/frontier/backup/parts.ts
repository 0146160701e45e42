/** The content and order of the parts of a backup, the same for both engines. */
import type { CookieNews, FailedList, Part } from '../frontier.js';
import { type BackupCookie, type BackupEntry, backupText, inEntries } from './entry.js';

/** An engine's readers, each in bounded steps. */
export interface PartReaders {
  /** The crawl as a whole, then its requests. */
  queue(): AsyncIterable<BackupEntry>;
  failed: FailedList['list'];
  /** As `Frontier.cookies`. */
  cookies(since: number, readAnewAt?: number): Promise<CookieNews | null>;
  dupefilter(): AsyncIterable<BackupEntry>;
  seeds(): AsyncIterable<BackupEntry>;
  /** Feed files; with `withItems` the items that wait for each follow it. */
  feeds(withItems: boolean): AsyncIterable<BackupEntry>;
  items(): AsyncIterable<readonly Buffer[]>;
  stats(): AsyncIterable<BackupEntry>;
}

/** Failed requests of one step. */
const FAILED = 500;

export async function* readParts(parts: readonly Part[], readers: PartReaders): AsyncIterable<BackupEntry> {
  const withItems = parts.includes('items');
  if (parts.includes('queue')) {
    yield* readers.queue();
    yield* cookieEntries(readers.cookies);
  }
  if (parts.includes('failed')) yield* failedEntries(readers.failed);
  if (parts.includes('dupefilter')) yield* readers.dupefilter();
  if (parts.includes('start_urls')) yield* readers.seeds();
  if (withItems || parts.includes('queue')) yield* readers.feeds(withItems);
  if (withItems) {
    for await (const values of inEntries(readers.items(), ({ length }) => length)) {
      yield { kind: 'items', values: values.map(backupText) };
    }
  }
  if (parts.includes('stats')) yield* readers.stats();
}

async function* failedEntries(list: FailedList['list']): AsyncIterable<BackupEntry> {
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<FailedList['list']>> = await list(cursor, FAILED);
    if (page.requests.length > 0) yield { kind: 'failed', values: page.requests };
    cursor = page.cursor;
  } while (cursor !== null);
}

async function* cookieEntries(read: PartReaders['cookies']): AsyncIterable<BackupEntry> {
  for await (const values of inEntries(cookiePages(read), ({ text }) => text.length + 100)) {
    yield { kind: 'cookies', values };
  }
}

async function* cookiePages(read: PartReaders['cookies']): AsyncIterable<BackupCookie[]> {
  let news = await read(0);
  const anewAt = news?.latest;
  while (news !== null) {
    yield news.sets.flatMap(({ jar, domain, cookies }) =>
      cookies.map((cookie) => ({ jar, domain, ...cookie })),
    );
    news = news.version < news.latest ? await read(news.version, anewAt) : null;
  }
}
