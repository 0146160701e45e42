/** The part of a page in which w3lib looks for its base URL and its meta refresh. */
import { safeUrl } from '../url/safe-url.js';
import { joinUrl } from '../url/url-parts.js';

/** As far as Scrapy looks for either (`scrapy.utils.response`). */
export const HEAD_CHARACTERS = 4096;

export const COMMENT = /<!--.*?(?:-->|$)/gs;

/** An absolute URL as w3lib makes it; null when there is none. */
export function resolvedUrl(base: string, url: string): string | null {
  try {
    return joinUrl(base, safeUrl(url));
  } catch {
    return null;
  }
}
