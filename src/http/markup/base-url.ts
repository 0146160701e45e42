/**
 * The base URL of a page, against which its relative links are resolved: by the HTML standard, which `Response` uses, and as
 * w3lib finds it, for the public `baseUrl()`.
 */
import { parseUrl } from '../url/parse-url.js';
import { safeUrl } from '../url/safe-url.js';
import { COMMENT, HEAD_CHARACTERS, resolvedUrl } from './page-head.js';

const BASE_HREF = /<base\s[^>]*href\s*=\s*["']\s*([^"'\s]+)\s*["']/i;

/**
 * The base URL by the HTML standard (§2.4.1).
 * @param href of the page's first `<base href>`; null without
 * @param pageUrl absolute URL of the page: the answer without a base, or with one that is no URL or of a scheme that
 * browsers do not accept here
 */
export function documentBase(href: string | null, pageUrl: string): string {
  const base = href === null ? null : parseUrl(href, pageUrl);
  if (base === null || base.protocol === 'data:' || base.protocol === 'javascript:') return pageUrl;
  return base.href;
}

/**
 * The URL that a page's links count from: its first `<base href>` outside comments, resolved against the
 * page's own URL, else that URL itself.
 *
 * Source: w3lib's `get_base_url`, on the first 4,096 characters as in Scrapy. A base that is no URL is passed over.
 * @param html the page's text, or as much of its beginning.
 * @throws InvalidRequestError (`invalid_url`) when `url`, the page's own, is none.
 */
export function baseUrl(html: string, url: string): string {
  const own = safeUrl(url);
  const href = BASE_HREF.exec(html.slice(0, HEAD_CHARACTERS).replace(COMMENT, ''))?.[1];
  return (href === undefined ? null : resolvedUrl(own, href)) ?? own;
}
