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
import { parseRobots } from '../../robots/parse-robots.js';
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

/** What the robots.txt of an origin says. */
interface Rules {
  isAllowed(url: string): boolean;
  readonly delayMs: number;
}

export async function politeFetcher(settings: Settings, spider: Spider, log: Logger): Promise<PoliteFetcher> {
  const plain = createDownloader({ ...downloaderOptionsOf(settings), log });
  const downloader = await cachedIfWanted(plain, settings, spider, log);
  const timers = new DomainTimers(settings);
  const robots = new RobotsRules(settings, downloader, timers);
  const jar = new CookieJar();

  const politely: Downloader = {
    start: downloader.start,
    enter: downloader.enter,
    close: downloader.close,
    fetch: async (request, how, stop) => {
      const delayMs = await robots.check(request, stop);
      return timers.take(request.url, delayMs, stop, async () => {
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

/** The delay between two requests to a domain. */
class DomainTimers {
  readonly #settings: Settings;
  readonly #nextAtMs = new Map<string, number>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Download in the next turn of the domain. The delay counts from the end of a download.
   * @param leastMs a longer delay, such as that of robots.txt
   */
  async take<T>(url: string, leastMs: number, stop: AbortSignal, download: () => Promise<T>): Promise<T> {
    const { DOMAIN_KEY, DOWNLOAD_DELAY, DOWNLOAD_SLOTS } = this.#settings;
    const domain = domainOf(url, DOMAIN_KEY);
    const waitMs = (this.#nextAtMs.get(domain) ?? 0) - Date.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stop });
    try {
      return await download();
    } finally {
      const delayMs = Math.max((DOWNLOAD_SLOTS[domain]?.delay ?? DOWNLOAD_DELAY) * 1000, leastMs);
      this.#nextAtMs.set(domain, Date.now() + delayMs);
    }
  }
}

/** The robots.txt of each origin, fetched once. */
class RobotsRules {
  readonly #options: ReturnType<typeof robotsOptionsOf>;
  readonly #downloader: Downloader;
  readonly #timers: DomainTimers;
  readonly #rules = new Map<string, Rules>();

  constructor(settings: Settings, downloader: Downloader, timers: DomainTimers) {
    this.#options = robotsOptionsOf(settings);
    this.#downloader = downloader;
    this.#timers = timers;
  }

  /** @returns the Crawl-delay in ms. @throws CrawlnodeError `robots_forbidden` */
  async check({ url, meta }: DownloadRequest, stop: AbortSignal): Promise<number> {
    const { origin, pathname } = new URL(url);
    if (this.#options === null || meta?.dont_obey_robotstxt === true || pathname === '/robots.txt') return 0;
    let rules = this.#rules.get(origin);
    if (rules === undefined) {
      rules = await this.#read(origin, stop);
      this.#rules.set(origin, rules);
    }
    if (!rules.isAllowed(url)) throw refused(`${origin}/robots.txt forbids ${url}`);
    return rules.delayMs;
  }

  async #read(origin: string, stop: AbortSignal): Promise<Rules> {
    const { userAgent, defaultUserAgent, crawlDelayMaxMs } = this.#options!;
    const agent = userAgent ?? defaultUserAgent;
    let url = new URL('/robots.txt', origin);
    let access: Origin | null = trustedOrigin;
    for (let hops = 0; ; hops += 1) {
      const request = {
        ...{ url: url.href, method: 'GET', headers: {}, body: null, cookies: null, meta: {} },
        origin: access,
      };
      const fetched = this.#timers.take(url.href, 0, stop, () =>
        this.#downloader.fetch(request, { purpose: 'robots' }, stop),
      );
      const verdict = await fetched.then(
        (download) => {
          // A redirect of a public site must not lead to a private address.
          access = inheritedOrigin(access, download.fromPrivateAddress);
          return judgeRobots(download, hops);
        },
        (error: unknown) => ({ kind: 'failed', why: messageOf(error) }) as const,
      );
      if (verdict.kind === 'failed') throw refused(`${origin}/robots.txt could not be read: ${verdict.why}`);
      if (verdict.kind === 'redirect') {
        url = verdict.to;
        continue;
      }
      const robots = parseRobots(verdict.text);
      return {
        isAllowed: (page) => robots.isAllowed(page, agent),
        delayMs: crawlDelayMs(robots, agent, crawlDelayMaxMs),
      };
    }
  }
}

function refused(what: string): CrawlnodeError {
  return new CrawlnodeError('robots_forbidden', `${what}; "-s ROBOTSTXT_OBEY=false" ignores robots.txt`);
}
