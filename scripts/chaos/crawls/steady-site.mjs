/** A site of any number of pages that keeps the queue of a crawl at one length, and answers a constant number per second. */
import { startSite } from '../harness/local-site.mjs';

/** The first page links to so many; each other page to one more, and to pages that were linked before. */
const QUEUE = 500;
const KNOWN_LINKS = 40;
const text = 'A paragraph that makes the page as long as pages are. '.repeat(20);

/** @returns what `beginCrawl` takes as `site`. */
export async function startSteadySite({ pages, pagesPerSecond }) {
  const everyMs = 1_000 / pagesPerSecond;
  let nextAt = Date.now();
  const answer = (path, response) => {
    const now = Date.now();
    nextAt = Math.max(now, nextAt + everyMs);
    setTimeout(() => {
      const page = Number(/^\/p(\d+)$/.exec(path)?.[1] ?? Number.NaN);
      if (page < pages) response.writeHead(200, { 'content-type': 'text/html' }).end(htmlOf(page, pages));
      else response.writeHead(404).end();
    }, nextAt - now);
    return true;
  };
  const site = await startSite({ answer });
  const urls = Array.from({ length: pages }, (_, page) => `${site.origin}/p${page}`);
  return { ...site, args: ['-a', `start=${site.origin}/p0`], urls };
}

function htmlOf(page, pages) {
  const added = page === 0 ? Array.from({ length: QUEUE }, (_, n) => n + 1) : [page + QUEUE];
  const known = Array.from({ length: KNOWN_LINKS }, (_, n) => page - n).filter((n) => n >= 0);
  const links = [...added.filter((n) => n < pages), ...known];
  const body = links.map((n) => `<p><a href="/p${n}">page ${n}</a></p>`).join('\n');
  return `<title>page ${page}</title><p>${text}</p>${body}`;
}
