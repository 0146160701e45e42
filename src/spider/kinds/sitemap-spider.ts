/** A spider that finds its pages in sitemaps. Source: `scrapy.spiders.SitemapSpider`. */
import { CrawlnodeError, InvalidRequestError, messageOf, UsageError } from '../../errors.js';
import { headerOf } from '../../http/message/headers.js';
import {
  type Callback,
  type CbKwargs,
  Request,
  type RequestOptions,
  unfetchableRequest,
} from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { TooComplexError } from '../../http/node-budget.js';
import type { SitemapEntry } from '../../http/sitemap/sitemap.js';
import {
  isRobotsTxt,
  MAX_SITEMAP_ENTRIES,
  refuseDeepIndex,
  type SitemapText,
  sitemapEntries,
  sitemapText,
} from '../../http/sitemap/sitemap-document.js';
import { urlJoiner } from '../../http/url/join-url.js';
import { matcher, type Patterns } from '../../http/url/url-patterns.js';
import { Spider } from '../spider.js';

/** Which pages of a sitemap are fetched, and by which method they are processed. */
export interface SitemapRule {
  /** A page must match one of these, anywhere in its absolute URL. Without `allow` every page matches. */
  readonly allow?: Patterns;
  /** The method for the pages, by reference or name; `parse` unless given. */
  readonly callback?: Callback | string;
  /** Arguments for `callback`, its second parameter. */
  readonly cbKwargs?: CbKwargs;
}

/**
 * Reads sitemaps, sitemap indexes and the sitemaps that a robots.txt names, also compressed with gzip, and requests the
 * pages in them that its rules match.
 * ```ts
 * export default class Shop extends SitemapSpider {
 *   name = 'shop';
 *   sitemapUrls = ['https://shop.example/robots.txt'];
 *   sitemapRules = [{ allow: /\/product\//, callback: this.parseProduct }];
 *
 *   parseProduct(response: Response) {
 *     return { url: response.url, name: response.css('h1::text').get() };
 *   }
 * }
 * ```
 */
export class SitemapSpider extends Spider {
  /** URLs of sitemaps, of indexes, and of files named robots.txt. */
  sitemapUrls: readonly string[] = [];
  /** A page is requested by the first rule that matches it, and not at all where none does. */
  sitemapRules: readonly SitemapRule[] = [{}];
  /** Which sitemaps of an index are read: those that one of these matches, anywhere in the URL. The default is all. A robots.txt has all its sitemaps read. */
  sitemapFollow: Patterns = [''];
  /** Whether a page is requested in its other languages too. */
  sitemapAlternateLinks = false;

  /**
   * Chooses among the entries of a sitemap or an index, for example by the time of their last change; it may change them. The
   * default is all.
   * ```ts
   * *sitemapFilter(entries: Iterable<SitemapEntry>) {
   *   for (const entry of entries) if (entry.lastmod === null || entry.lastmod >= '2026') yield entry;
   * }
   * ```
   */
  sitemapFilter(entries: Iterable<SitemapEntry>): Iterable<SitemapEntry> {
    return entries;
  }

  /** Requests `sitemapUrls`, and then `startUrls`. */
  override *start(): Iterable<Request | string> {
    for (const url of this.sitemapUrls) yield new Request(url, { callback: this.parseSitemap });
    yield* this.startUrls;
  }

  /**
   * The callback of sitemaps and indexes. What is read before a damaged place counts, and the log names the damage.
   * @throws CrawlnodeError `bad_sitemap` or `bad_gzip` where nothing can be read
   */
  async *parseSitemap(response: Response, { indexes = 0 }: CbKwargs = {}): AsyncGenerator<Request> {
    const sitemap = await sitemapText(response.body, headerOf(response.headers, 'content-type'));
    const requestFor = this.#requestMaker(response.url, indexes);
    let made = 0;
    let unmatched: string | null = null;
    const entries = this.#readable(sitemap, response);
    for (const entry of isRobotsTxt(response.url) ? entries : this.#chosen(entries)) {
      const others = this.sitemapAlternateLinks ? entry.alternates : [];
      for (const loc of [entry.loc, ...others]) {
        const request = requestFor(entry.kind, loc);
        if (request === null) {
          if (entry.kind === 'page') unmatched ??= loc;
          continue;
        }
        if (made >= MAX_SITEMAP_ENTRIES) {
          this.stats.incValue('sitemap/too_long');
          this.log.warn(
            { url: response.url, made },
            'a sitemap leads to more requests than one page may make',
          );
          return;
        }
        made += 1;
        yield request;
      }
    }
    // A sitemap of an index may have no page that is wanted.
    if (made === 0 && unmatched !== null) {
      this.log[indexes === 0 ? 'warn' : 'info'](
        { url: response.url, example: unmatched },
        'no page of a sitemap matches sitemapRules, so none is requested',
      );
    }
  }

  /** Makes the request of an entry; null for one that is not wanted. @param indexes on the path to this sitemap */
  #requestMaker(base: string, indexes: number): (kind: SitemapEntry['kind'], loc: string) => Request | null {
    const joiner = urlJoiner(base);
    const isFollowed = isRobotsTxt(base) ? () => true : matcher(this.sitemapFollow, 'sitemapFollow');
    const rules = this.sitemapRules.map(({ allow = '', ...rule }) => ({
      matches: matcher(allow, 'sitemapRules'),
      options: { callback: rule.callback ?? null, cbKwargs: rule.cbKwargs ?? {} },
    }));
    return (kind, loc) => {
      // An absolute URL stays as it is written, because joining would change its identity.
      const url = /^[a-z][a-z0-9+.-]*:/i.test(loc) ? loc : (joiner.join(loc) ?? loc);
      if (kind === 'page') {
        const rule = rules.find(({ matches }) => matches(url));
        return rule === undefined ? null : requestTo(url, rule.options);
      }
      if (!isFollowed(url)) return null;
      refuseDeepIndex(indexes);
      return requestTo(url, { callback: this.parseSitemap, cbKwargs: { indexes: indexes + 1 } });
    };
  }

  #chosen(entries: Iterable<SitemapEntry>): Iterable<SitemapEntry> {
    const wanted: unknown = this.sitemapFilter(entries);
    if (typeof wanted === 'object' && wanted !== null && Symbol.iterator in wanted) {
      return wanted as Iterable<SitemapEntry>;
    }
    throw new UsageError('sitemapFilter() returns entries: a list, or a generator that is not async');
  }

  /** The entries that have a URL, up to a damaged place. */
  *#readable(sitemap: SitemapText, { url, maxNodes }: Response): Generator<SitemapEntry> {
    let read = 0;
    try {
      for (const entry of sitemapEntries(sitemap, url, maxNodes)) {
        read += 1;
        if (entry.problem === null) yield entry;
        else
          this.log.debug({ url, entry: read, problem: entry.problem }, 'an entry of a sitemap is left out');
      }
    } catch (error) {
      const isDamage = error instanceof CrawlnodeError && !(error instanceof TooComplexError);
      if (read === 0 || !isDamage) throw error;
      this.stats.incValue('sitemap/damaged');
      this.log.warn(
        { url, entries: read, error: messageOf(error) },
        'a sitemap is damaged; the entries before the damage are taken',
      );
    }
  }
}

/** A URL that cannot be fetched costs only itself. */
function requestTo(url: string, options: RequestOptions): Request {
  try {
    return new Request(url, options);
  } catch (error) {
    if (error instanceof InvalidRequestError) return unfetchableRequest(url, options);
    throw error;
  }
}
