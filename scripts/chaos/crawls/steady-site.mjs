/** A site of any number of pages that keeps the queue of a crawl at one length, and answers a constant number per second. */
import http from 'node:http';
import { listenLocally } from '../tools/local-site.mjs';

/** The first page links to so many; each other page to one more, and to pages that were linked before. */
const QUEUE = 500;
const KNOWN_LINKS = 40;
const text = 'A paragraph that makes the page as long as pages are. '.repeat(20);

/** @returns what `beginCrawl` takes as `site`. */
export async function startSteadySite({ pages, pagesPerSecond }) {
  const requests = [];
  const everyMs = 1_000 / pagesPerSecond;
  let nextAt = Date.now();
  const server = http.createServer((request, response) => {
    const startMs = Date.now();
    nextAt = Math.max(startMs, nextAt + everyMs);
    const agent = request.headers['user-agent'];
    setTimeout(() => {
      const page = Number(/^\/p(\d+)$/.exec(request.url)?.[1] ?? Number.NaN);
      const status = page < pages ? 200 : 404;
      requests.push({ path: request.url, status, agent, startMs, endMs: Date.now() });
      response
        .writeHead(status, { 'content-type': 'text/html' })
        .end(status === 200 ? htmlOf(page, pages) : '');
    }, nextAt - startMs);
  });
  const origin = await listenLocally(server);
  return {
    args: ['-a', `start=${origin}/p0`],
    urls: Array.from({ length: pages }, (_, page) => `${origin}/p${page}`),
    log: async () => requests,
  };
}

function htmlOf(page, pages) {
  const added = page === 0 ? Array.from({ length: QUEUE }, (_, n) => n + 1) : [page + QUEUE];
  const known = Array.from({ length: KNOWN_LINKS }, (_, n) => page - n).filter((n) => n >= 0);
  const links = [...added.filter((n) => n < pages), ...known];
  const body = links.map((n) => `<p><a href="/p${n}">page ${n}</a></p>`).join('\n');
  return `<title>page ${page}</title><p>${text}</p>${body}`;
}
