/** Open the sitemaps of a seeding. Downloader and reader are created only when there is a sitemap to read. */
import type { Settings } from '../../settings/schema.js';
import type { SeedText } from './seed-text.js';
import type { SitemapCounts } from './sitemap-seeds.js';

/** Reads seeds from sitemaps until it is closed. */
export interface OpenSitemaps {
  readonly counts: SitemapCounts;
  lines(source: string, stop: AbortSignal): AsyncIterable<SeedText>;
  close(): Promise<void>;
}

/** Which sitemaps to read. */
export interface SitemapSources {
  /** URLs as given, paths absolute. */
  readonly sitemaps: readonly string[];
  /** Only entries that were changed since this time; null for all. */
  readonly sinceMs: number | null;
}

/**
 * Prepare to read sitemaps with the settings of a crawl.
 * @param onsite matches URLs within the spider's `allowedDomains`. @param onUnread called with a sitemap that cannot be read.
 * @returns null without sitemaps, so that the downloader is not loaded.
 */
export async function openSitemaps(
  { sitemaps, sinceMs }: SitemapSources,
  settings: Settings,
  onsite: RegExp | null,
  onUnread: (file: string, reason: string) => void,
): Promise<OpenSitemaps | null> {
  if (sitemaps.length === 0) return null;
  const { createSitemapFetch } = await import('./sitemap-fetch.js');
  const { SitemapSeeds } = await import('./sitemap-seeds.js');
  const { MAX_SITEMAP_BYTES } = await import('../../http/sitemap/sitemap-document.js');
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
