/** The sitemaps of a seeding: downloader and reader, made when there is a sitemap to read. */
import type { Settings } from '../../settings/schema.js';
import type { SeedText } from './seed-text.js';
import type { SitemapCounts } from './sitemap-seeds.js';

/** Sitemaps that are read for seeds, until they are closed. */
export interface OpenSitemaps {
  readonly counts: SitemapCounts;
  lines(source: string, stop: AbortSignal): AsyncIterable<SeedText>;
  close(): Promise<void>;
}

/** Which sitemaps to read. */
export interface SitemapSources {
  /** URLs as given, paths absolute. */
  readonly sitemaps: readonly string[];
  /** Only what has changed since; null takes all. */
  readonly sinceMs: number | null;
}

/**
 * Make ready to read sitemaps under the settings of a crawl.
 * @param onsite of the spider. @param onUnread hears of a sitemap that could not be read.
 * @returns null where there are none: the downloader behind them takes a tenth of a second to load.
 */
export async function openSitemaps(
  { sitemaps, sinceMs }: SitemapSources,
  settings: Settings,
  onsite: RegExp | null,
  onUnread: (file: string, reason: string) => void,
): Promise<OpenSitemaps | null> {
  if (sitemaps.length === 0) return null;
  const { createSitemapFetch } = await import('./sitemap-fetch.js');
  const { MAX_SITEMAP_BYTES, SitemapSeeds } = await import('./sitemap-seeds.js');
  const { fetch, close } = createSitemapFetch(settings, MAX_SITEMAP_BYTES);
  const seeds = new SitemapSeeds({
    fetch,
    sinceMs,
    allowPrivate: settings.ALLOW_PRIVATE_ADDRESSES,
    onsite,
    delayMs: settings.DOWNLOAD_DELAY * 1000,
    onUnread,
  });
  return { counts: seeds.counts, lines: (source, stop) => seeds.lines(source, stop), close };
}
