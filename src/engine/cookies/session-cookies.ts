/**
 * The cookies of a crawl, as a node uses them. The store has them: a page's changes are committed with its settle, and the
 * answer to a lease brings what has changed. So a page sees the cookies of the page that discovered it, on any node.
 */
import type { Download, DownloadRequest } from '../../downloader/downloader.js';
import type { CookieNews } from '../../frontier/frontier.js';
import { CookieJars } from '../../http/cookies/cookie-jars.js';
import type { PageCookies } from '../../http/cookies/page-cookies.js';
import type { Request } from '../../http/message/request.js';
import type { RequestRecord } from '../../http/message/request-record.js';
import type { Logger } from '../../log.js';
import type { CookieOptions } from '../engine-options.js';

/** `Frontier.cookies`. */
export type ReadCookies = (since: number, readAnewAt?: number) => Promise<CookieNews | null>;

/** A page on its way. */
interface Page {
  readonly flight: { cookies: PageCookies | null };
  readonly record: RequestRecord;
  readonly request: Request;
}

export class SessionCookies {
  readonly #options: CookieOptions;
  readonly #log: Logger;
  readonly #jars = new CookieJars();

  constructor(options: CookieOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** What a lease call names; undefined when the crawl keeps no cookies. */
  get version(): number | undefined {
    return this.#options.enabled ? this.#jars.version : undefined;
  }

  /** Take over what the answer to a lease brings, and read the rest where that was not all. */
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
   * The request as it is sent, with the cookies of its jar. Its own cookies enter the jar. A Cookie header that the spider has
   * set is sent as it is, and the jar adds nothing to it.
   */
  async prepare(page: Page): Promise<DownloadRequest> {
    const { record, request } = page;
    if (!this.#uses(record)) return request;
    if (record.cookies === null && !this.#jars.has(jarOf(record))) return request;
    const cookies = await this.#cookiesOf(page);
    if (record.cookies !== null) cookies.give(record.cookies);
    if (hasCookieHeader(record)) return request;
    const header = cookies.header();
    if (this.#options.debug && header !== '') {
      this.#log.debug({ url: record.url, jar: record.cookieJar, cookie: header }, `sends cookies: ${header}`);
    }
    return {
      ...request,
      headers: header === '' ? record.headers : { ...record.headers, Cookie: header },
      cookies: null,
    };
  }

  /** Take the cookies of an answer, whatever its status. They are committed with the page. */
  async receive(page: Page, { headers }: Pick<Download, 'headers'>): Promise<void> {
    const header = headers['set-cookie'];
    if (header === undefined || !this.#uses(page.record)) return;
    const cookies = await this.#cookiesOf(page);
    const all = typeof header === 'string' ? [header] : header;
    const refused = cookies.receive(all);
    if (!this.#options.debug) return;
    const fields = { url: page.record.url, jar: page.record.cookieJar };
    for (const cookie of all) this.#log.debug({ ...fields, cookie }, `received a cookie: ${cookie}`);
    for (const { header, why } of refused) {
      this.#log.debug({ ...fields, cookie: header, why }, `the cookie is not taken, as ${why}: ${header}`);
    }
  }

  /** Scrapy's meta key `dont_merge_cookies`: the request neither uses nor changes a jar. */
  #uses({ meta }: RequestRecord): boolean {
    return this.#options.enabled && meta.dont_merge_cookies !== true;
  }

  async #cookiesOf({ flight, record }: Page): Promise<PageCookies> {
    if (flight.cookies !== null) return flight.cookies;
    const { PageCookies } = await loadRules();
    const jar = jarOf(record);
    flight.cookies = new PageCookies(jar, this.#jars.jar(jar), record.url);
    return flight.cookies;
  }
}

const loadRules = () => import('../../http/cookies/page-cookies.js');

const jarOf = ({ cookieJar }: RequestRecord): string => cookieJar ?? '';

function hasCookieHeader({ headers }: RequestRecord): boolean {
  for (const name in headers) if (name.toLowerCase() === 'cookie') return true;
  return false;
}
