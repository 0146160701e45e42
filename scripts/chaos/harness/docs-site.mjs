/**
 * The pages of the harness: the documentation of Python as Debian packs it, served by nginx in any number of copies. What a
 * crawl must find is what an independent crawler reaches. nginx answers a limited number of requests per second, so that a
 * crawl lasts long enough for faults.
 */
import { existsSync } from 'node:fs';
import * as cheerio from 'cheerio';
import { startNginx } from './nginx.mjs';

const root = '/usr/share/doc/python3-doc/html';
/** python3-doc has some 530 pages, whichever Python it is of. */
const FEWEST = 100;

/** What one copy reaches, as a promise of paths below it; walked once for a process. */
let reachable = null;

/** @throws Error that says what to install. */
export function requireDocs() {
  if (!existsSync(root)) throw new Error('as root: apt-get install nginx python3-doc redis-server');
}

/**
 * @param part a folder of the documentation, such as library/, of one copy; all of it unless told
 * @returns the arguments of a crawl, `urls` of all pages, and `log()`: each request as
 * { path, url, status, agent, startMs, endMs }, times of the wall clock.
 */
export async function startDocs(dir, { copies, pagesPerSecond, part = '' }) {
  requireDocs();
  reachable ??= walkOnce(dir, part);
  const paths = await reachable;
  const site = await startNginx(root, dir, { pagesPerSecond });
  const prefixes = Array.from({ length: copies }, (_, n) => `${site.url}copy${n}/`);
  const starts = prefixes.map((prefix) => `${prefix}${part}index.html`);
  return {
    args: [
      `start=${starts.join(' ')}`,
      `within=${part === '' ? `${site.url}copy` : prefixes[0] + part}`,
      'ending=.html',
    ].flatMap((arg) => ['-a', arg]),
    urls: prefixes.flatMap((prefix) => paths.map((path) => prefix + path)),
    log: site.log,
    stop: site.stop,
  };
}

async function walkOnce(dir, part) {
  const site = await startNginx(root, dir);
  const within = site.url + part;
  const pages = [...(await walk(`${within}index.html`, within))].map((url) => url.slice(site.url.length));
  await site.stop();
  // The site of the crawl writes to the same log.
  await site.forget();
  if (pages.length < FEWEST) throw new Error('the walker found next to nothing, so nothing can be missing');
  return pages;
}

/**
 * An independent walker: by another parser, and no shared code.
 * @param within what each URL begins with
 * @returns the URLs of the pages that answer 200 with HTML, found by following a[href] and area[href].
 */
async function walk(start, within) {
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
      const href = $(element).attr('href').trim();
      if (!URL.canParse(href, url)) continue;
      const link = new URL(href, url);
      if (!link.href.startsWith(within)) continue;
      link.hash = '';
      known.add(link.href);
    }
  }
  return pages;
}
