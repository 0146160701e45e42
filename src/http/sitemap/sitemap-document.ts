/** A sitemap, a sitemap index or a robots.txt as it was downloaded: decompressed, decoded, and read within limits. */
import type { CrawlnodeError } from '../../errors.js';
import { decodeBody } from '../charset/decode-body.js';
import { gunzipIfCompressed } from '../gunzip-if-compressed.js';
import { robotsLines } from '../robots-lines.js';
import { isXmlText, readSitemap, type SitemapEntry, SitemapError } from './sitemap.js';

/** Decompressed. The protocol allows 50 MB. */
export const MAX_SITEMAP_BYTES = 64 * 1024 * 1024;
/** The protocol allows 50,000. */
export const MAX_SITEMAP_ENTRIES = 100_000;
/** The protocol allows no index in an index. */
const MAX_INDEXES = 3;

/** A sitemap as text. */
export interface SitemapText {
  readonly text: string;
  /** Set when the file was cut: `text` is what comes before. */
  readonly damage: CrawlnodeError | null;
}

/** @throws CrawlnodeError `bad_gzip` for compressed content that is damaged or too large */
export async function sitemapText(body: Buffer, contentType: string | null): Promise<SitemapText> {
  const { bytes, damage } = await gunzipIfCompressed(body, MAX_SITEMAP_BYTES);
  return { text: decodeBody(bytes, contentType), damage };
}

/**
 * The entries of a sitemap, or the sitemaps that a robots.txt names, in order.
 * @param url decides which of the two it is. @param maxNodes as of `readSitemap`. @throws SitemapError or the damage of the file, possibly after some entries
 */
export function* sitemapEntries(
  { text, damage }: SitemapText,
  url: string,
  maxNodes?: number,
): Generator<SitemapEntry> {
  const isRobots = isRobotsTxt(url);
  // The last line of a cut list is no whole URL.
  const whole = damage === null || isXmlText(text) ? text : text.replace(/[^\r\n]*$/, '');
  let entries = 0;
  try {
    for (const entry of isRobots ? sitemapsOfRobots(whole) : readSitemap(whole, maxNodes)) {
      entries += 1;
      if (entries > MAX_SITEMAP_ENTRIES) {
        throw new SitemapError(`it has more than ${MAX_SITEMAP_ENTRIES} entries`);
      }
      yield entry;
    }
  } catch (error) {
    throw damage ?? error;
  }
  if (damage !== null) throw damage;
  if (isRobots && entries === 0) throw new SitemapError('this robots.txt names no sitemap');
}

/** Whether a URL or path is that of a robots.txt. */
export function isRobotsTxt(url: string): boolean {
  return /\/robots\.txt(?:[?#]|$)/i.test(url);
}

/** @param indexes number of indexes on the path to an index. @throws SitemapError when it may lead no further */
export function refuseDeepIndex(indexes: number): void {
  if (indexes >= MAX_INDEXES) throw new SitemapError(`an index within ${MAX_INDEXES} others`);
}

function* sitemapsOfRobots(text: string): Generator<SitemapEntry> {
  for (const { key, value } of robotsLines(text)) {
    if (key === 'sitemap' && value !== '') yield { ...noFields, kind: 'sitemap', loc: value, problem: null };
  }
}

const noFields = { lastmod: null, changefreq: null, priority: null, alternates: [] };
