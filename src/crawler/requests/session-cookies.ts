/** The cookies that a request would be sent with, for `inspect`. */
import type { Frontier } from '../../frontier/frontier.js';
import { CookieJars } from '../../http/cookies/cookie-jars.js';
import type { RequestRecord } from '../../http/message/record/request-record.js';
import { parseUrl } from '../../http/url/parse-url.js';
import { MASK } from '../../settings/mask-urls.js';

/**
 * The Cookie header that the crawl's jar gives to a request, with masked values: `sid=***; lang=***`.
 * @param url of the request, or a text that is none. @param record of the request; null sends it without cookies of its own, from the default jar.
 * @param maxBytes COOKIES_MAX_HEADER; 0 for no limit. @returns null for none.
 */
export async function maskedCookies(
  frontier: Pick<Frontier, 'cookies'>,
  url: string,
  record: Pick<RequestRecord, 'cookies' | 'cookieJar'> | null,
  maxBytes: number,
): Promise<string | null> {
  if (parseUrl(url) === null) return null;
  const jars = await readJars(frontier);
  const name = record?.cookieJar ?? '';
  if (!jars.has(name) && (record?.cookies ?? null) === null) return null;
  const { PageCookies } = await import('../../http/cookies/page-cookies.js');
  const page = new PageCookies(name, jars.jar(name), url);
  if (record?.cookies) page.give(record.cookies);
  const header = page.header(maxBytes).text;
  return header === '' ? null : header.replace(/=[^;]*/g, `=${MASK}`);
}

async function readJars(frontier: Pick<Frontier, 'cookies'>): Promise<CookieJars> {
  const jars = new CookieJars();
  const first = await frontier.cookies(0);
  for (let news = first; news !== null; ) {
    jars.apply(news);
    news = news.version < news.latest ? await frontier.cookies(news.version, first?.latest) : null;
  }
  return jars;
}
