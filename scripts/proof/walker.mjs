/** An independent walker: every HTML page a site reaches from one URL, by another parser and no shared code. */
import * as cheerio from 'cheerio';

/**
 * @param within what each URL begins with; all of the host unless told
 * @returns the URLs of the pages that answer 200 with HTML, found by following a[href] and area[href] on one host.
 */
export async function walk(start, within = new URL('/', start).href) {
  const pages = new Set();
  const known = new Set([start]);
  for (const url of known) {
    const answer = await fetch(url, { redirect: 'error' }).catch(() => null);
    if (!answer?.ok || !answer.headers.get('content-type')?.includes('text/html')) {
      await answer?.body?.cancel();
      continue;
    }
    pages.add(url);
    const $ = cheerio.load(await answer.text());
    for (const element of $('a[href], area[href]')) {
      const link =
        URL.parse?.($(element).attr('href').trim(), url) ?? tryUrl($(element).attr('href').trim(), url);
      if (!link?.href.startsWith(within)) continue;
      link.hash = '';
      known.add(link.href);
    }
  }
  return pages;
}

function tryUrl(href, base) {
  try {
    return new URL(href, base);
  } catch {
    return null;
  }
}
