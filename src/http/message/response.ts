/** A downloaded page, as callbacks receive it. It is decoded and parsed on first use. */
import { readFileSync } from 'node:fs';
import { type CheerioAPI, load } from 'cheerio/slim';
import { CrawlnodeError, InvalidRequestError, UsageError } from '../../errors.js';
import { BodyText } from '../charset/decode-body.js';
import { spendJsonValues } from '../json-values.js';
import { documentBase } from '../markup/base-url.js';
import { withBoundedCost } from '../markup/css/bounded-cheerio.js';
import { cssQuery } from '../markup/css/css-query.js';
import { type Outline, outlineOf } from '../markup/html/outline.js';
import { isMarkup, isXml } from '../markup/is-markup.js';
import { checkLinkOptions, chosenLinks, hrefsOf, type LinkOptions, linksOf } from '../markup/links.js';
import { type Document, type HtmlTree, parseTree } from '../markup/markup-tree.js';
import { type Selector, SelectorList } from '../markup/selector.js';
import { selectXPath, type XPathVariables } from '../markup/xpath/xpath-query.js';
import { DEFAULT_MAX_NODES, NodeBudget, TooComplexError } from '../node-budget.js';
import { detached } from '../text-memory.js';
import { checkUrl } from '../url/http-url.js';
import { isTooLong, type UrlJoiner, urlJoiner } from '../url/join-url.js';
import { parseUrl } from '../url/parse-url.js';
import { headerOf, lowerCaseHeaders } from './headers.js';
import { describe } from './record/json-safe.js';
import {
  type Callback,
  type CbKwargs,
  type CbKwargsFor,
  type Meta,
  Request,
  type RequestOptions,
  undefinedCallback,
  unfetchableRequest,
} from './request.js';

/** The arguments of a Response, for tests of a spider and for middleware. Only `url` is needed. */
export interface ResponseParts {
  /** The URL that the body was downloaded from. */
  readonly url: string;
  /** The HTTP status; 200 unless given. */
  readonly status?: number;
  /** Names in any case; a list for a repeated header. None unless given. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body after decompression; a text is taken as UTF-8. Empty unless given. */
  readonly body?: Uint8Array | string;
  /** The request that led to the response; a GET of `url` unless given. */
  readonly request?: Request;
  /** None unless given. */
  readonly flags?: readonly string[];
  /** DOWNLOAD_MAX_NODES, as `too_complex` counts; its default unless given, 0 for no limit. */
  readonly maxNodes?: number;
}

/** What `Response.fromFile` says of a saved page beside its body. */
export interface SavedPage {
  /** The URL of the page, from which relative links count; `http://localhost/` unless given. */
  readonly url?: string;
  /** The HTTP status; 200 unless given. */
  readonly status?: number;
  /** The headers of the response; none unless given. */
  readonly headers?: ResponseParts['headers'];
  /** The meta of the request. */
  readonly meta?: Meta;
}

/** What `follow()` and `followAll()` made of a page: what a callback may have meant to yield. */
export interface Followed {
  requests: number;
  /** The first selector, or its text, whose elements are all no links; null for none. */
  noLinks: string | null;
}

const followedByResponse = new WeakMap<Response, Followed>();

/** What was followed on a page so far; undefined for nothing. */
export function followedOf(response: Response): Readonly<Followed> | undefined {
  return followedByResponse.get(response);
}

function countFollowed(response: Response, requests: number, noLinks: string | null): void {
  let followed = followedByResponse.get(response);
  if (followed === undefined) {
    followed = { requests: 0, noLinks: null };
    followedByResponse.set(response, followed);
  }
  followed.requests += requests;
  followed.noLinks ??= noLinks;
}

/** Parsed in place of a body that is not markup. */
const emptyText = new BodyText(Buffer.alloc(0), null);

const noFlags: readonly string[] = [];

/** Links of a page whose list is kept for further calls of links(). */
const MAX_KEPT_HREFS = 100_000;

/** What is kept of an outline: no hrefs where there were many, since `links()` is rarely called twice. */
type KeptOutline = Omit<Outline, 'hrefs'> & { readonly hrefs: string[] | null };

/** The options of `follow` and `followAll`: those of a request, whose callback is an argument of its own and says what `cbKwargs` it takes. */
export interface FollowOptions<K extends CbKwargs = CbKwargs>
  extends Omit<RequestOptions, 'callback' | 'cbKwargs'> {
  /** Arguments for the callback and the errback, which get them as their second parameter. Only values that JSON can represent are allowed. */
  readonly cbKwargs?: NoInfer<K>;
}

/** The page of a callback is any Response: it is said here, since this file imports that one. */
declare module './request-options.js' {
  // biome-ignore lint/suspicious/noExplicitAny: each method says which meta it takes.
  interface CallbackPage extends Response<any> {}
}

/** The options, which may be left out unless the callback needs `cbKwargs`. */
type OptionsFor<K extends CbKwargs> =
  Record<never, never> extends K
    ? [options?: FollowOptions<K>]
    : [options: FollowOptions<K> & CbKwargsFor<K>];

/** The arguments after the target. A list, since its length tells an undefined callback from an omitted one. */
type FollowArguments = readonly [callback?: Callback | string | null, options?: FollowOptions];

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
export class Response<M extends Meta = Meta> {
  /** The URL that the body was downloaded from. */
  readonly url: string;
  /** The HTTP status. */
  readonly status: number;
  /** Headers by lower-case name; a list for a repeated one. `header(name)` takes a name in any case. */
  readonly headers: Readonly<Record<Lowercase<string>, string | readonly string[]>>;
  /** The body after decompression. */
  readonly body: Buffer;
  /** The request that led to this response. */
  readonly request: Request;
  /** `dataloss` where the body is incomplete (DOWNLOAD_FAIL_ON_DATALOSS). */
  readonly flags: readonly string[];
  /** @internal DOWNLOAD_MAX_NODES. */
  readonly maxNodes: number;
  #bodyText: BodyText | undefined;
  #tree: HtmlTree | undefined;
  /** Why there is no tree: the page would be parsed anew at each call. */
  #tooComplex: TooComplexError | undefined;
  #outline: KeptOutline | undefined;
  #api: CheerioAPI | undefined;
  #joiner: UrlJoiner | undefined;
  #isMarkup: boolean | undefined;
  /** The last result of links(). These URLs are absolute and detached already, so following them needs no joining. */
  #links: Set<string> = new Set();

  /** For tests of a spider, and for middleware that answers in place of a server. */
  constructor(parts: ResponseParts) {
    this.url = parts.url;
    this.status = parts.status ?? 200;
    this.headers = lowerCaseHeaders(parts.headers ?? {});
    this.body = bodyOf(parts.body);
    this.request = parts.request ?? new Request(parts.url);
    this.flags = parts.flags ?? noFlags;
    this.maxNodes = parts.maxNodes ?? DEFAULT_MAX_NODES;
  }

  /**
   * A saved page as a response, for tests of a spider.
   * @param options `url` of the page, as relative links count from it (default `http://localhost/`); status, headers, and
   *   the `meta` that its request carries. @throws the file system's error when the file cannot be read
   */
  static fromFile(file: string, options: SavedPage = {}): Response {
    const { url = 'http://localhost/', status = 200, headers = {}, meta = {} } = options;
    const request = new Request(url, { meta });
    return new Response({ url: request.url, status, headers, body: readFileSync(file), request });
  }

  /** The request's meta. */
  get meta(): M {
    return this.request.meta as M;
  }

  /** The request's cbKwargs, which the callback also gets as its second argument. */
  get cbKwargs(): CbKwargs {
    return this.request.cbKwargs;
  }

  /** The value of a header, the first one of a repeated header; null without it. @param name in any case */
  header(name: string): string | null {
    return headerOf(this.headers, name.toLowerCase());
  }

  /** The body as text. The charset is that of the byte order mark, Content-Type or `<meta>`, else UTF-8, or windows-1252 where it is not valid UTF-8. Never throws. */
  get text(): string {
    return this.#decoded.whole;
  }

  /**
   * The body parsed as JSON.
   * @throws CrawlnodeError with code `bad_json`, naming the URL, when it is not JSON; with code `too_complex` when it has more
   *   values than DOWNLOAD_MAX_NODES allows
   */
  json<T = unknown>(): T {
    spendJsonValues(this.text, NodeBudget.ofValues('values of JSON', this.maxNodes));
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

  /**
   * The page in Cheerio, parsed on first use; empty for a body that is not markup. A call that would block the node for long
   * on this page throws the error `selector_cost`.
   */
  get $(): CheerioAPI {
    // Cheerio uses the same tree, so css() and links() see the changes that a spider makes with `$`.
    const xml = this.#isXml;
    this.#api ??= withBoundedCost(
      load(this.#root, xml ? { xml: true } : undefined),
      this.#root,
      this.#source.whole.length,
      xml,
    );
    return this.#api;
  }

  /**
   * Selects elements by CSS selector, texts with `::text` and attributes with `::attr(name)`, in document order. The list
   * is empty for a body that is not markup.
   * @throws UsageError naming a selector that is not valid
   */
  css(selector: string): SelectorList {
    // Nearly every spider uses this query, and it needs no tree.
    if (selector === 'title::text' && this.#tree === undefined && !this.#isXml) {
      return new SelectorList(this.#outlined.titles, false);
    }
    return new SelectorList(cssQuery(selector, this.#isXml).select(this.#root), this.#isXml);
  }

  /**
   * Selects by XPath 1.0, with `has-class('a')` and `re:test()` as in Scrapy. Elements, texts, attributes and values can be
   * selected, and css() and xpath() can be mixed. A relative path begins at the outermost element. A name without prefix matches in any namespace; the prefixes of an XML
   * document are those of its outermost element. xpath() sees the page as it was at its first call.
   * ```ts
   * response.xpath('//h1/text()').get();
   * response.xpath('//a[contains(@href, $part)]/@href', { part: 'image' }).getAll();
   * ```
   * @param variables values of `$name` in the expression
   * @throws UsageError for an expression that is not valid
   */
  xpath(expression: string, variables?: XPathVariables): SelectorList {
    return new SelectorList(selectXPath(expression, this.#root, this.#isXml, variables), this.#isXml);
  }

  /** The absolute URL of an href of this page; `<base>` is honoured. @throws InvalidRequestError when it is not a URL, or longer than 64 KiB. */
  urljoin(href: string): string {
    const joined = this.#join.join(href);
    if (joined !== null) return joined;
    // The joiner handles http(s) only; a URL with another scheme is valid here.
    const other = isTooLong(href) ? null : parseUrl(href, this.#baseUrl);
    if (other !== null) return other.href;
    throw new InvalidRequestError(`${JSON.stringify(href.slice(0, 200))} on ${this.url} is not a URL.`);
  }

  /**
   * Creates a request for a link of this page. One for a URL that cannot be fetched, such as `mailto:`, may be yielded too:
   * it is dropped and counted, and costs nothing else.
   * @param target an absolute or relative URL, or a selector of an `a`, `area`, `link` or `img`
   * @throws InvalidRequestError when the target is a selector without a link
   */
  follow<K extends CbKwargs = CbKwargs>(
    target: string | URL | Selector,
    callback?: Callback<K> | string | null,
    ...options: OptionsFor<K>
  ): Request;
  follow(target: string | URL | Selector, ...followArguments: FollowArguments): Request {
    if (typeof target !== 'string' && !(target instanceof SelectorList || target instanceof URL)) {
      const what = target === null ? 'null, as get() of an empty selection gives it' : typeof target;
      throw new InvalidRequestError(
        `follow() on ${this.url} was given ${what}; give a URL or a selection, or use followAll(selector)`,
      );
    }
    const href = referenceOf(target);
    if (href === null) {
      throw new InvalidRequestError(`follow() on ${this.url} was given a selector without a link.`);
    }
    const options = optionsOf(followArguments);
    const url = this.#absolute(href) ?? detached(href);
    countFollowed(this, 1, null);
    return tryRequest(url, options) ?? unfetchableRequest(url, options);
  }

  /**
   * Creates requests for many links of this page. Targets without an http(s) URL are left out.
   * @param targets a CSS selector, the result of css(), or a list of absolute or relative URLs
   */
  followAll<K extends CbKwargs = CbKwargs>(
    targets: string | Iterable<string | URL | Selector>,
    callback?: Callback<K> | string | null,
    ...options: OptionsFor<K>
  ): Request[];
  followAll(
    targets: string | Iterable<string | URL | Selector>,
    ...followArguments: FollowArguments
  ): Request[] {
    if (typeof (targets as Partial<Iterable<unknown>> | null)?.[Symbol.iterator] !== 'function') {
      throw new InvalidRequestError(
        `followAll() on ${this.url} was given ${describe(targets)}; give a CSS selector, a selection or a list of URLs`,
      );
    }
    const requests: Request[] = [];
    const shared = optionsOf(followArguments);
    let hasTargets = false;
    let areNoLinks = true;
    for (const target of typeof targets === 'string' ? this.css(targets) : targets) {
      hasTargets = true;
      const href = referenceOf(target);
      if (areNoLinks) areNoLinks = target instanceof SelectorList && target.isNoLink();
      const url = href === null ? null : this.#absolute(href);
      if (url === null) continue;
      const request = tryRequest(url, shared);
      if (request !== null) requests.push(request);
    }
    const selector = typeof targets === 'string' ? JSON.stringify(targets) : 'a selection';
    countFollowed(this, requests.length, hasTargets && areNoLinks ? selector : null);
    return requests;
  }

  /**
   * The absolute http(s) URLs of `a[href]` and `area[href]`, each once, in document order. `<base>` is honoured and
   * fragments are removed. No tree is built, unless `selector` is given or `$` or css() has parsed the page already.
   * @throws CrawlnodeError with code `too_complex` on a page with more links than two for each of DOWNLOAD_MAX_NODES
   */
  links(options: LinkOptions = {}): string[] {
    checkLinkOptions(options);
    this.#links = linksOf(this.#hrefs(options.selector), this.#join);
    return chosenLinks(this.#links, options);
  }

  /** @internal The URL of a link without its fragment; null where it is no http(s) URL, or too long for one. */
  linkUrl(href: string): string | null {
    return this.#join.joinWithoutFragment(href);
  }

  #absolute(href: string): string | null {
    if (this.#links.has(href)) return href;
    const url = this.#join.join(href);
    return url === null ? null : detached(url);
  }

  #hrefs(selector: string | undefined): Iterable<string> {
    if (selector !== undefined) return hrefsOf(this.css(selector).elements());
    if (this.#tree !== undefined || this.#isXml) return hrefsOf([this.#root]);
    const hrefs = this.#outlined.hrefs ?? this.#readOutline().hrefs;
    NodeBudget.ofLinks(this.maxNodes).spend(hrefs.length);
    if (hrefs.length <= MAX_KEPT_HREFS) return hrefs;
    // A long list would keep the text of the page in memory a second time, while its links become requests.
    this.#outline = { ...this.#outlined, hrefs: null };
    return drained(hrefs);
  }

  get #contentType(): string | null {
    return headerOf(this.headers, 'content-type');
  }

  get #isXml(): boolean {
    return isXml(this.#contentType);
  }

  get #decoded(): BodyText {
    this.#bodyText ??= new BodyText(this.body, this.#contentType, true);
    return this.#bodyText;
  }

  /** The text to parse; empty for a body that is not markup. */
  get #source(): BodyText {
    this.#isMarkup ??= isMarkup(this.body, this.#contentType);
    return this.#isMarkup ? this.#decoded : emptyText;
  }

  get #root(): Document {
    this.#tree ??= this.#parsed();
    return this.#tree.document;
  }

  #parsed(): HtmlTree {
    if (this.#tooComplex !== undefined) throw this.#tooComplex;
    try {
      return parseTree(this.#source.whole, this.#isXml, new NodeBudget(this.maxNodes));
    } catch (error) {
      if (error instanceof TooComplexError) this.#tooComplex = error;
      throw error;
    }
  }

  get #outlined(): KeptOutline {
    this.#outline ??= this.#readOutline();
    return this.#outline;
  }

  #readOutline(): Outline {
    return outlineOf(this.#source.utf8OrText, NodeBudget.ofLinks(this.maxNodes).most);
  }

  /** The base URL by the HTML standard. It comes from the tree or the links if these have been read already. */
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

/** The texts of a list, of which each is released as soon as it is read. */
function* drained(texts: string[]): Iterable<string> {
  for (let n = 0; n < texts.length; n++) {
    const text = texts[n]!;
    texts[n] = '';
    yield text;
  }
}

/** The URL of a target, absolute or relative; null for a selector without a link. */
function referenceOf(target: string | URL | Selector): string | null {
  if (target instanceof URL) return target.href;
  return typeof target === 'string' ? target : target.reference();
}

/** @throws InvalidRequestError for a callback that was given as undefined. */
function optionsOf(followArguments: FollowArguments): RequestOptions | undefined {
  const [callback, options] = followArguments;
  if (followArguments.length === 0) return undefined;
  if (callback === undefined) throw undefinedCallback('callback');
  return { ...options, callback };
}

/** Null for a URL that cannot be requested. Other errors come from the options, so they are thrown. */
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

/** @throws UsageError for what is no body */
function bodyOf(given: Uint8Array | string = ''): Buffer {
  if (Buffer.isBuffer(given)) return given;
  if (given instanceof Uint8Array) return Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (typeof given === 'string') return Buffer.from(given);
  throw new UsageError(`The body of a Response is bytes or a text, not a value of type ${typeof given}`);
}
