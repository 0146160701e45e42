/**
 * A real HTTP server with a deterministic, link-rich site, and a log of every request it answered.
 *
 * Page 0 is `/`, page n is `/page/n.html`. Every page links to two further ones (so all can be reached), back home,
 * and to some others picked by a fixed rule, one of them twice and with a fragment: work for the dupefilter.
 */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { disown, own, type Resource } from '../resources.js';

/** What the site is like; everything has a default. */
export interface SiteOptions {
  /** Default 30. */
  readonly pages?: number;
  /** Links per page beyond the two that make every page reachable; default 6. */
  readonly extraLinks?: number;
  /** How long each page takes; a number, or one per path. */
  readonly delayMs?: number | ((path: string) => number);
  /** Path → how many times it answers `failStatus` before it works; Infinity is for ever. */
  readonly failing?: Readonly<Record<string, number>>;
  /** Default 503. */
  readonly failStatus?: number;
  /** Default 127.0.0.1; another loopback address is another domain. */
  readonly host?: string;
  readonly port?: number;
  /** Answers the request itself and returns true, or leaves it to the site. */
  readonly handler?: (request: http.IncomingMessage, response: http.ServerResponse) => boolean;
}

/** One answered request. */
export interface AccessEntry {
  /** When the request arrived, `Date.now()` of the site's process. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  /** 0 when the client went away before the answer was complete. */
  readonly status: number;
  readonly userAgent: string;
}

/** A running site. */
export interface Site {
  /** `http://host:port`, without a slash. */
  readonly origin: string;
  /** The first page. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Absolute URLs of all pages, the first page first. */
  readonly urls: readonly string[];
  /** In the order the answers ended; robots.txt and whatever else was asked for included. */
  readonly log: readonly AccessEntry[];
  /** How often each page path of the site was answered with 200. */
  fetched(): Map<string, number>;
  /** Pages never answered with 200, and those answered more than once. */
  compare(): { missing: string[]; twice: string[] };
  clearLog(): void;
  close(): Promise<void>;
}

/** Start a site; it ends with `close()`, else after the test file. */
export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const {
    pages = 30,
    extraLinks = 6,
    delayMs = 0,
    failing = {},
    failStatus = 503,
    host = '127.0.0.1',
  } = options;
  const log: AccessEntry[] = [];
  const failuresLeft = new Map(Object.entries(failing));
  const paths = Array.from({ length: pages }, (_, page) => pagePath(page));
  const numbers = new Map(paths.map((path, page) => [path, page]));

  const server = http.createServer(async (request, response) => {
    const atMs = Date.now();
    const path = request.url ?? '/';
    response.once('close', () => {
      const userAgent = request.headers['user-agent'] ?? '';
      const status = response.writableFinished ? response.statusCode : 0;
      log.push({ atMs, method: request.method ?? '', path, status, userAgent });
    });
    const delay = typeof delayMs === 'function' ? delayMs(path) : delayMs;
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    if (options.handler?.(request, response)) return;
    const left = failuresLeft.get(path) ?? 0;
    if (left > 0) {
      failuresLeft.set(path, left - 1);
      response.writeHead(failStatus, { 'content-type': 'text/plain' }).end('not yet\n');
      return;
    }
    const page = numbers.get(path);
    if (page === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
      return;
    }
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(pageHtml(page, pages, extraLinks));
  });
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://${host}:${port}`;

  const resource: Resource = {
    name: `the site ${origin}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      disown(resource);
    },
  };
  own(resource);

  const fetched = () => {
    const counts = new Map<string, number>();
    for (const { path, status } of log) {
      if (status === 200 && numbers.has(path)) counts.set(path, (counts.get(path) ?? 0) + 1);
    }
    return counts;
  };
  return {
    origin,
    url: `${origin}/`,
    host,
    port,
    urls: paths.map((path) => origin + path),
    log,
    fetched,
    compare: () => {
      const counts = fetched();
      return {
        missing: paths.filter((path) => !counts.has(path)),
        twice: paths.filter((path) => (counts.get(path) ?? 0) > 1),
      };
    },
    clearLog: () => {
      log.length = 0;
    },
    close: async () => {
      if (server.listening) await resource.close();
    },
  };
}

/** `/` for page 0, `/page/n.html` for page n. */
export function pagePath(page: number): string {
  return page === 0 ? '/' : `/page/${page}.html`;
}

/** The numbers a page links to, in page order: its two children, then some spread over the site. */
export function linkedPages(page: number, pages: number, extraLinks = 6): number[] {
  const children = [2 * page + 1, 2 * page + 2].filter((child) => child < pages);
  const others = Array.from({ length: extraLinks }, (_, n) => (page * 7 + n * n * 13 + 5 * n + 3) % pages);
  return [...children, ...others];
}

function pageHtml(page: number, pages: number, extraLinks: number): string {
  const linked = linkedPages(page, pages, extraLinks);
  const links = linked.map((target) => `<li><a href="${pagePath(target)}">Page ${target}</a></li>`);
  const again = linked[0];
  if (again !== undefined)
    links.push(`<li><a href="${pagePath(again)}#top">Page ${again}, once more</a></li>`);
  return `<!doctype html>
<html lang="en"><head><title>Page ${page}</title></head>
<body>
<h1 id="top">Page ${page}</h1>
<p class="price">${(page * 37) % 100}.${String((page * 53) % 100).padStart(2, '0')}</p>
<nav><a class="home" href="/">Home</a></nav>
<ul class="links">
${links.join('\n')}
</ul>
</body></html>
`;
}
