/**
 * Downloads of `crawlnode shell`, one at a time, under the limits of a crawl: robots.txt, the delay of each domain, timeouts
 * and sizes, redirects, private addresses, proxies, the HTTP cache and cookies. Nothing is stored.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CookieJar } from 'tough-cookie';
import { createDownloader, type Downloader, type DownloadRequest } from '../../downloader/downloader.js';
import { httpAuthOf } from '../../downloader/http-auth.js';
import { CrawlnodeError, messageOf } from '../../errors.js';
import type { Origin } from '../../http/message/record/request-record.js';
import { inheritedOrigin } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { domainOf } from '../../http/url/domain.js';
import type { Logger } from '../../log.js';
import { crawlDelayMs, judgeRobots } from '../../node/robots/judge-robots.js';
import { parseRobots, type Robots } from '../../robots/parse-robots.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import { cachedIfWanted } from '../project/http-cache.js';
import { downloaderOptionsOf, robotsOptionsOf } from '../project/settings-to-options.js';
import { followRedirects, trustedOrigin } from '../requests/fetch-page.js';

export interface PoliteFetcher {
  /**
   * Download a page that the user named; it may be at a private address.
   * @throws CrawlnodeError `robots_forbidden` when robots.txt forbids it, or is not to be had; DownloadError
   */
  fetch(request: Request, stop: AbortSignal): Promise<Response>;
  close(): Promise<void>;
}

export async function politeFetcher(settings: Settings, spider: Spider, log: Logger): Promise<PoliteFetcher> {
  const plain = createDownloader({ ...downloaderOptionsOf(settings), log });
  const downloader = await cachedIfWanted(plain, settings, spider, log);
  const inTurn = domainTimer(settings);
  const delayByRobots = robotsRules(settings, downloader, inTurn);
  const jar = new CookieJar();

  const politely: Downloader = {
    start: downloader.start,
    enter: downloader.enter,
    close: downloader.close,
    fetch: async (request, how, stop) => {
      const delayMs = await delayByRobots(request, stop);
      return inTurn(request.url, delayMs, stop, async () => {
        if (!settings.COOKIES_ENABLED) return downloader.fetch(request, how, stop);
        const download = await downloader.fetch(withCookies(request, jar), how, stop);
        for (const header of [download.headers['set-cookie'] ?? []].flat()) {
          jar.setCookieSync(header, request.url, { ignoreError: true });
        }
        return download;
      });
    },
  };
  return {
    fetch: async (request, stop) => {
      const trusted = request.replace({ origin: trustedOrigin });
      const context = { downloader: politely, settings, stop, authorize: httpAuthOf(spider) };
      return (await followRedirects(trusted, { purpose: 'page' }, context)).response;
    },
    close: () => downloader.close(),
  };
}

/** A Cookie header that the user has set is sent as it is. */
function withCookies(request: DownloadRequest, jar: CookieJar): DownloadRequest {
  for (const [name, value] of Object.entries(request.cookies ?? {})) {
    jar.setCookieSync(`${name}=${value}`, request.url, { ignoreError: true });
  }
  const hasOwn = Object.keys(request.headers).some((name) => name.toLowerCase() === 'cookie');
  const header = hasOwn ? '' : jar.getCookieStringSync(request.url);
  return header === ''
    ? request
    : { ...request, headers: { ...request.headers, Cookie: header }, cookies: null };
}

/** Download in the next turn of the domain. @param leastMs a longer delay than that of the settings, such as that of robots.txt */
type InTurn = <T>(url: string, leastMs: number, stop: AbortSignal, download: () => Promise<T>) => Promise<T>;

/** The delay between two requests to a domain, which counts from the end of a download. */
function domainTimer({ DOMAIN_KEY, DOWNLOAD_DELAY, DOWNLOAD_SLOTS }: Settings): InTurn {
  const nextAtMs = new Map<string, number>();
  return async (url, leastMs, stop, download) => {
    const domain = domainOf(url, DOMAIN_KEY);
    const waitMs = (nextAtMs.get(domain) ?? 0) - Date.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop });
    try {
      return await download();
    } finally {
      const delayMs = Math.max((DOWNLOAD_SLOTS[domain]?.delay ?? DOWNLOAD_DELAY) * 1000, leastMs);
      nextAtMs.set(domain, Date.now() + delayMs);
    }
  };
}

/** @returns a function that gives the Crawl-delay of a page in ms. It throws CrawlnodeError `robots_forbidden`. */
function robotsRules(settings: Settings, downloader: Downloader, inTurn: InTurn) {
  const options = robotsOptionsOf(settings);
  if (options === null) return async () => 0;
  const agent = options.userAgent ?? options.defaultUserAgent;
  /** By origin, each read once. */
  const known = new Map<string, Robots>();

  return async ({ url, meta }: DownloadRequest, stop: AbortSignal): Promise<number> => {
    const { origin, pathname } = new URL(url);
    if (meta?.dont_obey_robotstxt === true || pathname === '/robots.txt') return 0;
    const robots = known.get(origin) ?? (await read(origin, stop));
    known.set(origin, robots);
    if (!robots.isAllowed(url, agent)) throw refused(`${origin}/robots.txt forbids ${url}`);
    return crawlDelayMs(robots, agent, options.crawlDelayMaxMs);
  };

  async function read(origin: string, stop: AbortSignal): Promise<Robots> {
    let url = new URL('/robots.txt', origin);
    let access: Origin | null = trustedOrigin;
    for (let hops = 0; ; hops += 1) {
      const request = {
        ...{ url: url.href, method: 'GET', headers: {}, body: null, cookies: null, meta: {} },
        origin: access,
      };
      const download = () => downloader.fetch(request, { purpose: 'robots' }, stop);
      const verdict = await inTurn(url.href, 0, stop, download).then(
        (fetched) => {
          // A redirect of a public site must not lead to a private address.
          access = inheritedOrigin(access, fetched.fromPrivateAddress);
          return judgeRobots(fetched, hops);
        },
        (error: unknown) => ({ kind: 'failed', why: messageOf(error) }) as const,
      );
      if (verdict.kind === 'failed') throw refused(`${origin}/robots.txt could not be read: ${verdict.why}`);
      if (verdict.kind !== 'redirect') return parseRobots(verdict.text);
      url = verdict.to;
    }
  }
}

function refused(what: string): CrawlnodeError {
  return new CrawlnodeError('robots_forbidden', `${what}; "-s ROBOTSTXT_OBEY=false" ignores robots.txt`);
}
