/** What a callback gets: one downloaded page, decoded and parsed only as far as it is asked for. */
import { type CheerioAPI, load } from 'cheerio/slim';
import { CrawlnodeError, InvalidRequestError } from '../../errors.js';
import { BodyText } from '../charset/decode-body.js';
import { detached } from '../detached-text.js';
import { cssQuery } from '../markup/css/css-query.js';
import { documentBase } from '../markup/document-base.js';
import { type Outline, outlineOf } from '../markup/html/outline.js';
import { isMarkup, isXml } from '../markup/is-markup.js';
import { chosenLinks, hrefsOf, type LinkOptions, linksOf } from '../markup/links.js';
import { type Document, type HtmlTree, parseTree } from '../markup/markup-tree.js';
import { type Selector, SelectorList } from '../markup/selector.js';
import { checkUrl } from '../url/http-url.js';
import { type UrlJoiner, urlJoiner } from '../url/join-url.js';
import { parseUrl } from '../url/parse-url.js';
import { type Headers, headerOf, lowerCaseHeaders } from './headers.js';
import { type Callback, type Meta, Request, type RequestOptions, undefinedCallback } from './request.js';

/** What a Response is made of, for tests of a spider. */
export interface ResponseParts {
  /** Where the body came from. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly request: Request;
}

/** What may be parsed of an image. */
const noText = new BodyText(Buffer.alloc(0), null);

export type FollowOptions = Omit<RequestOptions, 'callback'>;

/** What follows the target: a list, since an undefined callback is told from none by its length. */
type FollowHow = readonly [callback?: Callback | string | null, options?: FollowOptions];

/**
 * A downloaded page.
 * ```ts
 * async *parse(response: Response) {
 *   yield { url: response.url, title: response.css('title::text').get() };
 *   yield* response.followAll('li.next a', this.parse);
 *   yield* response.followAll(response.links({ allow: /\/book\// }), this.parseBook);
 * }
 * ```
 */
export class Response {
  /** Where the body came from. */
  readonly url: string;
  /** The HTTP status. */
  readonly status: number;
  /** By lower-case name; a list for a repeated one. */
  readonly headers: Headers;
  /** The body after decompression. */
  readonly body: Buffer;
  /** What was asked for. */
  readonly request: Request;
  #bodyText: BodyText | undefined;
  #tree: HtmlTree | undefined;
  #outline: Outline | undefined;
  #api: CheerioAPI | undefined;
  #joiner: UrlJoiner | undefined;
  #markup: boolean | undefined;
  /** What links() gave last: absolute and on their own already, so that following them takes no joining. */
  #links: Set<string> = new Set();

  constructor(parts: ResponseParts) {
    this.url = parts.url;
    this.status = parts.status;
    this.headers = lowerCaseHeaders(parts.headers);
    this.body = parts.body;
    this.request = parts.request;
  }

  /** The request's meta. */
  get meta(): Meta {
    return this.request.meta;
  }

  /** The body as text; its charset by byte order mark, Content-Type and `<meta>`, else UTF-8. Never throws. */
  get text(): string {
    return this.#decoded.whole;
  }

  /** The body as JSON. @throws CrawlnodeError with code `bad_json`, naming the URL, when it is not. */
  json<T = unknown>(): T {
    try {
      return JSON.parse(this.text.replace(/^\ufeff/, ''));
    } catch (cause) {
      throw new CrawlnodeError(
        'bad_json',
        `The body of ${this.url} is not JSON: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }

  /** The page in Cheerio, parsed when first used; empty for a body that holds no markup. */
  get $(): CheerioAPI {
    // Cheerio goes on with the same tree, so what a spider changes with `$` shows in css() and links().
    this.#api ??= load(this.#root, this.#isXml ? { xml: true } : undefined);
    return this.#api;
  }

  /**
   * Elements by CSS selector, texts with `::text`, attributes with `::attr(name)`, in document order; nothing for a
   * body that holds no markup.
   * @throws UsageError naming a selector that is not valid
   */
  css(selector: string): SelectorList {
    // The one query nearly every spider makes needs no tree.
    if (selector === 'title::text' && this.#tree === undefined && !this.#isXml) {
      return new SelectorList(this.#outlined.titles, false);
    }
    return new SelectorList(cssQuery(selector, this.#isXml).select(this.#root), this.#isXml);
  }

  /** An absolute URL from an href of this page; `<base>` is honoured. @throws InvalidRequestError when it is no URL. */
  urljoin(href: string): string {
    const joined = this.#join.join(href);
    if (joined !== null) return joined;
    // Another scheme is an answer too.
    const other = parseUrl(href, this.#baseUrl);
    if (other !== null) return other.href;
    throw new InvalidRequestError(`${JSON.stringify(href.slice(0, 200))} on ${this.url} is not a URL.`);
  }

  /**
   * A request for a link of this page.
   * @param target an absolute or relative URL, or a selector of an `a`, `area`, `link` or `img`
   * @throws InvalidRequestError when the target holds no http(s) URL
   */
  follow(target: string | Selector, ...how: FollowHow): Request {
    const href = typeof target === 'string' ? target : target.reference();
    if (href === null) {
      throw new InvalidRequestError(`follow() on ${this.url} was given a selector without a link.`);
    }
    return new Request(detached(this.urljoin(href)), optionsOf(how));
  }

  /**
   * Requests for many links of this page; what has no link, or one that is not http(s), is left out.
   * @param targets a CSS selector, the result of css(), or a list of absolute or relative URLs
   */
  followAll(targets: string | Iterable<string | Selector>, ...how: FollowHow): Request[] {
    const requests: Request[] = [];
    const shared = optionsOf(how);
    for (const target of typeof targets === 'string' ? this.css(targets) : targets) {
      const href = typeof target === 'string' ? target : target.reference();
      const url = href === null ? null : this.#absolute(href);
      if (url === null) continue;
      const request = tryRequest(url, shared);
      if (request !== null) requests.push(request);
    }
    return requests;
  }

  /**
   * Absolute http(s) URLs of `a[href]` and `area[href]`: `<base>` honoured, fragments removed, each once, in document
   * order. Without `selector`, and unless `$` or css() has parsed the page already, no tree is built.
   */
  links(options: LinkOptions = {}): string[] {
    this.#links = linksOf(this.#hrefs(options.selector), this.#join);
    return chosenLinks(this.#links, options);
  }

  #absolute(href: string): string | null {
    if (this.#links.has(href)) return href;
    const url = this.#join.join(href);
    return url === null ? null : detached(url);
  }

  #hrefs(selector: string | undefined): Iterable<string> {
    if (selector !== undefined) return hrefsOf(this.css(selector).elements());
    if (this.#tree !== undefined || this.#isXml) return hrefsOf([this.#root]);
    return this.#outlined.hrefs;
  }

  get #contentType(): string | null {
    return headerOf(this.headers, 'content-type');
  }

  get #isXml(): boolean {
    return isXml(this.#contentType);
  }

  get #decoded(): BodyText {
    this.#bodyText ??= new BodyText(this.body, this.#contentType);
    return this.#bodyText;
  }

  /** The text as far as it may be parsed. */
  get #source(): BodyText {
    this.#markup ??= isMarkup(this.body, this.#contentType);
    return this.#markup ? this.#decoded : noText;
  }

  get #root(): Document {
    this.#tree ??= parseTree(this.#source.whole, this.#isXml);
    return this.#tree.document;
  }

  get #outlined(): Outline {
    this.#outline ??= outlineOf(this.#source.utf8OrText);
    return this.#outline;
  }

  /** By the HTML standard. A page that has been read already, for its tree or its links, is not read again. */
  get #baseUrl(): string {
    if (this.#isXml) return this.url;
    const { baseHref } = this.#tree ?? this.#outlined;
    return documentBase(baseHref, this.url);
  }

  get #join(): UrlJoiner {
    this.#joiner ??= urlJoiner(this.#baseUrl);
    return this.#joiner;
  }
}

/** @throws InvalidRequestError for a callback that is given and undefined. */
function optionsOf(how: FollowHow): RequestOptions | undefined {
  const [callback, options] = how;
  if (how.length === 0) return undefined;
  if (callback === undefined) throw undefinedCallback('callback');
  return { ...options, callback };
}

/** Null for a URL that cannot be requested; whatever else is wrong is the caller's mistake and is thrown. */
function tryRequest(url: string, options: RequestOptions | undefined): Request | null {
  try {
    return new Request(url, options);
  } catch (error) {
    if (!isRequestable(url)) return null;
    throw error;
  }
}

function isRequestable(url: string): boolean {
  try {
    checkUrl(url);
    return true;
  } catch {
    return false;
  }
}
