/** The content and order of the parts of a backup, the same for both engines. */
import type { CookieNews, FailedList, Part, PartCounts } from '../frontier.js';
import { partNotEmpty } from '../refusals.js';
import { type BackupCookie, type BackupEntry, backupText, inEntries, type RestoreTicket } from './entry.js';

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

/**
 * Whether a restore may begin in a crawl that holds so much, and has no other restore under way.
 * @param restoredFrom the restore that ended last
 * @returns `whole` where this backup was restored before, and nothing was cleared since. @throws RefusedError
 */
export function judgeRestore(
  counts: PartCounts,
  { id, parts, exclusive, force }: RestoreTicket,
  restoredFrom: string | null,
): 'whole' | 'may begin' {
  const full = parts.filter((part) => counts[part] > 0);
  if (full.length === 0) return 'may begin';
  if (!force) throw partNotEmpty(full[0]!);
  if (restoredFrom === id) return 'whole';
  const conflict = full.find((part) => exclusive.includes(part));
  if (conflict !== undefined) throw partNotEmpty(conflict);
  return 'may begin';
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
