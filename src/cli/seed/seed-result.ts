/** The final output of `seed` and its exit code: 1 when a sitemap was not read, 2 when every seed was bad. */
import { type CrawlName, crawlName } from '../../crawler/project/crawls-in-store.js';
import type { SeedCounts } from '../../crawler/seeds/seed-text.js';
import type { SitemapCounts } from '../../crawler/seeds/sitemap-seeds.js';
import { howMany, n } from '../../format-amounts.js';
import { type Context, note, print, printJson } from '../context.js';

/** Only the first bad seeds are printed one by one; the others are counted. */
export const MAX_BAD_SEEDS_SHOWN = 20;

/** The outcome of `seed`. */
export interface SeedResult {
  readonly crawl: CrawlName;
  readonly counts: SeedCounts;
  /** The seeds were appended to start_urls, and `accepted` counts them. */
  readonly isRaw: boolean;
  readonly sitemaps: SitemapCounts | null;
  /** 130 or 143 after a signal; the error after an error; null when all input was read. */
  readonly interrupted: number | Error | null;
}

/** Print the counts. @returns the exit code. @throws the error that interrupted the command, after printing. */
export function reportSeedResult(
  context: Context,
  { crawl, counts, isRaw, sitemaps, interrupted }: SeedResult,
): number {
  const { accepted, duplicates, bad } = counts;
  if (interrupted instanceof Error && accepted + duplicates + bad === 0) throw interrupted;
  if (bad > MAX_BAD_SEEDS_SHOWN)
    note(context, `… and ${n(bad - MAX_BAD_SEEDS_SHOWN)} more bad seeds`, 'warn');
  if (interrupted !== null) {
    const again = isRaw
      ? 'the same command would append these again, so give it only the rest'
      : 'repeat the command to go on: seeds that are still pending are duplicates';
    const what = typeof interrupted === 'number' ? 'interrupted' : 'not everything was read or accepted';
    note(context, `${what}: the seeds counted here are stored; ${again}`);
  }
  const shownCounts = isRaw ? { appended: accepted, ...(bad > 0 && { bad }) } : counts;
  if (context.globals.json) printJson(context, { ...shownCounts, ...(sitemaps && { sitemaps }) });
  else {
    const what = isRaw
      ? `${n(accepted)} appended to start_urls, which nodes read and check${bad > 0 ? `, ${n(bad)} bad` : ''}`
      : `${crawlName(crawl)}: ${n(accepted)} accepted, ${n(duplicates)} duplicate, ${n(bad)} bad`;
    print(context, `${what}${sitemaps === null ? '' : ` (${sitemapText(sitemaps)})`}`);
  }
  if (interrupted instanceof Error) throw interrupted;
  if (interrupted !== null) return interrupted;
  if (sitemaps !== null && sitemaps.unread > 0) return 1;
  return bad > 0 && accepted + duplicates === 0 ? 2 : 0;
}

function sitemapText({ read, unread, older }: SitemapCounts): string {
  const parts = [howMany(read, 'sitemap')];
  if (unread > 0) parts.push(`${n(unread)} of them not read, or not completely`);
  if (older > 0) parts.push(`${n(older)} older entries skipped`);
  return parts.join(', ');
}
