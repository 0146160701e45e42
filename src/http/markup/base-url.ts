/** The URL that the links of a page start from, by the HTML standard (§2.4.1). */
import { parseUrl } from '../url/parse-url.js';

/**
 * @param href of the page's first `<base href>`; null without
 * @param pageUrl absolute URL of the page: the answer without a base, or with one that is no URL or of a scheme that
 * browsers do not accept here
 */
export function documentBase(href: string | null, pageUrl: string): string {
  const base = href === null ? null : parseUrl(href, pageUrl);
  if (base === null || base.protocol === 'data:' || base.protocol === 'javascript:') return pageUrl;
  return base.href;
}
