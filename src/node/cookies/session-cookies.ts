/**
 * This node's view of the cookies of the crawl. The store holds them: a page's changes are committed with its settle, and
 * the answer to a lease contains what has changed since. So a page has the cookies of the page that discovered it, on any
 * node.
 */
import type { Download, DownloadRequest } from '../../downloader/downloader.js';
import type { CookieNews } from '../../frontier/frontier.js';
import { CookieJars } from '../../http/cookies/cookie-jars.js';
import type { PageCookies, RefusedCookie } from '../../http/cookies/page-cookies.js';
import type { OutgoingRequest } from '../../http/message/outgoing-request.js';
import type { Request } from '../../http/message/request.js';
import { cookieJarOf } from '../../http/message/request-meta.js';
import type { Logger } from '../../log.js';
import type { CookieOptions } from '../node-options.js';

/** At most this many domains are reported, since each subdomain of a site may set too many cookies. */
const MAX_WARNINGS = 1_000;

/** `Frontier.cookies`. */
export type ReadCookies = (since: number, readAnewAt?: number) => Promise<CookieNews | null>;

/** A page on its way. */
interface Page {
  readonly flight: { cookies: PageCookies | null };
  /** As middleware has left it. */
  readonly request: Request;
}

export class SessionCookies {
  readonly #options: CookieOptions;
  readonly #log: Logger;
  readonly #jars = new CookieJars();
  /** Domains that were reported for COOKIES_MAX_HEADER. */
  readonly #tooLong = new Set<string>();

  constructor(options: CookieOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** The version that a lease call sends; undefined when the crawl keeps no cookies. */
  get version(): number | undefined {
    return this.#options.enabled ? this.#jars.version : undefined;
  }

  /** Apply the changes in the answer to a lease. Where the answer was cut, read the rest. */
  async learn(news: CookieNews, read: ReadCookies): Promise<void> {
    let anewAt = news.isAnew || this.#jars.version === 0 ? news.latest : undefined;
    for (let next: CookieNews | null = news; next !== null; ) {
      this.#jars.apply(next);
      if (next.version >= next.latest) break;
      next = await read(this.#jars.version, anewAt);
      if (next?.isAnew === true) anewAt = next.latest;
    }
    // Loaded here, so that no download waits for it.
    await loadRules();
  }

  /**
   * Load what `prepare` needs for the cookies of a request. This happens before the lateness of its download is checked.
   * Null when nothing is needed, which saves almost every page a promise.
   */
  ready(request: Request): Promise<unknown> | null {
    return request.cookies !== null && this.#uses(request) ? loadRules() : null;
  }

  /**
   * The request as it is sent, with the cookies of its jar. The request's own cookies are added to the jar. A Cookie header
   * that the spider has set is sent unchanged, without cookies of the jar. Returns a request, not a promise, when the crawl
   * has no cookies for it.
   */
  prepare(page: Page): Promise<DownloadRequest> | DownloadRequest {
    const { request } = page;
    if (!this.#uses(request)) return request;
    if (request.cookies === null && !this.#jars.has(jarOf(request))) return request;
    return this.#withCookies(page);
  }

  async #withCookies(page: Page): Promise<DownloadRequest> {
    const { request } = page;
    const cookies = await this.#cookiesOf(page);
    const refused = request.cookies === null ? [] : cookies.give(request.cookies);
    if (this.#options.debug) this.#logRefused(request, refused);
    if (hasCookieHeader(request)) return request;
    const { text: header, leftOut } = cookies.header(this.#options.maxHeaderBytes);
    if (leftOut > 0) this.#warnOfLength(request, leftOut);
    if (header === '') return { ...request, cookies: null };
    if (this.#options.debug) {
      const fields = { url: request.url, jar: request.meta.cookiejar, cookie: header };
      this.#log.debug(fields, `sends cookies: ${header}`);
    }
    return { ...request, headers: { ...request.headers, Cookie: header }, cookies: null };
  }

  /**
   * Set the Cookie header of a request on its way through middleware, so that the modules after it see the header. As
   * everywhere, the one of the settings is sent only where the request has no other cookie.
   * @param fallback of the settings; null for none. @returns the header; null where none was set
   */
  async attach(
    page: Page & { readonly request: OutgoingRequest },
    fallback: string | null,
  ): Promise<string | null> {
    const { request } = page;
    const prepared = this.prepare(page);
    const { headers, cookies } = prepared instanceof Promise ? await prepared : prepared;
    if (cookies !== null || hasCookieHeader(request)) return null;
    const header = typeof headers.Cookie === 'string' ? headers.Cookie : fallback;
    if (header !== null) request.headers.Cookie = header;
    return header;
  }

  /**
   * Store the cookies of a response in the jar, whatever its status. They are committed with the page. Null when it has
   * none.
   */
  receive(page: Page, { headers }: Pick<Download, 'headers'>): Promise<void> | null {
    const header = headers['set-cookie'];
    return header === undefined || !this.#uses(page.request) ? null : this.#take(page, header);
  }

  async #take(page: Page, header: string | readonly string[]): Promise<void> {
    const cookies = await this.#cookiesOf(page);
    const all = typeof header === 'string' ? [header] : header;
    const refused = cookies.receive(all);
    if (!this.#options.debug) return;
    const { url, meta } = page.request;
    const fields = { url, jar: meta.cookiejar };
    for (const cookie of all) this.#log.debug({ ...fields, cookie }, `received a cookie: ${cookie}`);
    this.#logRefused(page.request, refused);
  }

  #warnOfLength({ url }: Request, leftOut: number): void {
    const domain = new URL(url).host;
    if (this.#tooLong.has(domain) || this.#tooLong.size >= MAX_WARNINGS) return;
    this.#tooLong.add(domain);
    const { maxHeaderBytes } = this.#options;
    this.#log.warn(
      { domain, leftOut, maxHeaderBytes },
      `the cookies of ${domain} are more than ${maxHeaderBytes} bytes (COOKIES_MAX_HEADER): the largest are not sent; further requests to it are not reported`,
    );
  }

  #logRefused({ url, meta }: Request, refused: readonly RefusedCookie[]): void {
    for (const { header, why } of refused) {
      const fields = { url, jar: meta.cookiejar, cookie: header, why };
      this.#log.debug(fields, `the cookie is refused: ${why}: ${header}`);
    }
  }

  /** Scrapy's meta key `dont_merge_cookies`: the request neither uses nor changes a jar. */
  #uses({ meta }: Request): boolean {
    return this.#options.enabled && meta.dont_merge_cookies !== true;
  }

  async #cookiesOf({ flight, request }: Page): Promise<PageCookies> {
    if (flight.cookies !== null) return flight.cookies;
    const { PageCookies } = await loadRules();
    const jar = jarOf(request);
    flight.cookies = new PageCookies(jar, this.#jars.jar(jar), request.url);
    return flight.cookies;
  }
}

const loadRules = () => import('../../http/cookies/page-cookies.js');

const jarOf = ({ meta }: Request): string => cookieJarOf(meta) ?? '';

function hasCookieHeader({ headers }: Request): boolean {
  for (const name in headers) if (name.toLowerCase() === 'cookie') return true;
  return false;
}
