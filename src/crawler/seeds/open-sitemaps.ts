/** The sitemaps of a seeding. */
import type { Settings } from '../../settings/schema.js';
import { createSitemapFetch } from './sitemap-fetch.js';
import { type SitemapOptions, SitemapSeeds } from './sitemap-seeds.js';

/** Reads seeds from sitemaps until it is closed. */
export type OpenSitemaps = ReturnType<typeof openSitemaps>;

/** Prepare to read sitemaps with the settings of a crawl. */
export function openSitemaps(
  settings: Settings,
  options: Pick<SitemapOptions, 'sinceMs' | 'onsite' | 'onUnread'>,
) {
  const { fetch, close } = createSitemapFetch(settings);
  const { ALLOW_PRIVATE_ADDRESSES: allowPrivate, DOWNLOAD_DELAY } = settings;
  const seeds = new SitemapSeeds({ ...options, fetch, allowPrivate, delayMs: DOWNLOAD_DELAY * 1000 });
  return { seeds, counts: seeds.counts, close };
}
