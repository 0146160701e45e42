/** Which links of a page to follow, with the options of Scrapy's `LinkExtractor`. */
import { UsageError } from '../../errors.js';
import { countedText } from '../../http/markup/css/match-budget.js';
import type { Selector } from '../../http/markup/selector.js';
import type { Response } from '../../http/message/response.js';
import { canonicalizeUrl } from '../../http/url/canonicalize-url.js';
import { matcher, type Patterns } from '../../http/url/url-patterns.js';
import { ignoredExtensions } from './ignored-extensions.js';

/** A link of a page. */
export interface Link {
  /** Absolute http(s) URL, without a fragment. */
  readonly url: string;
  /** The text inside the element, with its whitespace as in the page; empty for elements without one, such as `img`. */
  readonly text: string;
  /** The element has `rel="nofollow"`. */
  readonly nofollow: boolean;
}

/** Options of a LinkExtractor. All are optional; without any, every link of the page is extracted. */
export interface LinkExtractorOptions {
  /** Keep only URLs that one of these matches, anywhere in the absolute URL. */
  readonly allow?: Patterns;
  /** Drop URLs that one of these matches. It takes precedence over `allow`. */
  readonly deny?: Patterns;
  /** Keep only URLs of these domains and their subdomains. */
  readonly allowDomains?: string | readonly string[];
  /** Drop URLs of these domains and their subdomains. */
  readonly denyDomains?: string | readonly string[];
  /** File extensions to drop. The default is images, archives, documents and the like. */
  readonly denyExtensions?: readonly string[];
  /** CSS selectors of the parts of the page to look at. */
  readonly restrictCss?: string | readonly string[];
  /** XPath expressions of the parts of the page to look at. */
  readonly restrictXpath?: string | readonly string[];
  /** Keep only links whose text one of these matches. */
  readonly restrictText?: Patterns;
  /** Elements that are links; `a` and `area` unless given. */
  readonly tags?: string | readonly string[];
  /** Attributes that hold the URL; `href` unless given. */
  readonly attrs?: string | readonly string[];
  /** Whether a URL is given once for a page, by its first link. The default is true. */
  readonly unique?: boolean;
  /** Whether URLs are given in their canonical form (`canonicalizeUrl`). The default is false. */
  readonly canonicalize?: boolean;
  /** Called with each attribute value as it stands in the page. It returns the URL to use, or null to drop the link. */
  readonly processValue?: (value: string) => string | null | undefined;
}

const optionNames: Readonly<Record<keyof LinkExtractorOptions, true>> = {
  ...{ allow: true, deny: true, allowDomains: true, denyDomains: true, denyExtensions: true },
  ...{ restrictCss: true, restrictXpath: true, restrictText: true, tags: true, attrs: true },
  ...{ unique: true, canonicalize: true, processValue: true },
};

/** In an attribute `rel`, which is a list of words. */
const NOFOLLOW = /(?:^|\s)nofollow(?:\s|$)/i;

/**
 * Extracts the links of pages.
 * ```ts
 * const products = new LinkExtractor({ allow: /\/product\//, restrictCss: 'main' });
 * for (const link of products.extractLinks(response)) yield response.follow(link.url, this.parseProduct);
 * ```
 * Source of the options: `scrapy.linkextractors.LinkExtractor`.
 */
export class LinkExtractor {
  readonly #options: LinkExtractorOptions;
  readonly #isUrlWanted: (url: string) => boolean;
  readonly #isTextWanted: (text: string) => boolean;
  readonly #tags: string;
  readonly #attrs: readonly string[];

  /** @throws UsageError for an unknown option, or a text that is no regular expression */
  constructor(options: LinkExtractorOptions = {}) {
    refuseUnknown(options);
    this.#options = options;
    this.#isUrlWanted = urlTest(options);
    this.#isTextWanted = patternTest(options.restrictText, 'restrictText') ?? (() => true);
    this.#tags = listOf(options.tags ?? ['a', 'area']).join(', ');
    this.#attrs = listOf(options.attrs ?? 'href');
  }

  /**
   * The links of a page in document order. What is no http(s) URL is left out.
   * @throws CrawlnodeError with code `selector_cost` where the links lie within each other, so that their texts take long
   */
  extractLinks(response: Response): Link[] {
    const { unique = true } = this.#options;
    const links = new Map<string, Link>();
    const all: Link[] = [];
    for (const element of this.#elements(response)) {
      for (const link of this.#linksOf(element, response)) {
        if (!this.#isUrlWanted(link.url) || !this.#isTextWanted(link.text)) continue;
        if (!unique) all.push(link);
        else if (!links.has(link.url)) links.set(link.url, link);
      }
    }
    return unique ? [...links.values()] : all;
  }

  /** Whether a link to this URL would be extracted, whatever its text and its place in the page. */
  matches(url: string): boolean {
    return this.#isUrlWanted(url);
  }

  *#elements(response: Response): Iterable<Selector> {
    const { restrictCss, restrictXpath } = this.#options;
    if (restrictCss === undefined && restrictXpath === undefined) {
      yield* response.css(this.#tags);
      return;
    }
    for (const selector of listOf(restrictCss)) yield* response.css(selector).css(this.#tags);
    for (const expression of listOf(restrictXpath)) yield* response.xpath(expression).css(this.#tags);
  }

  *#linksOf(element: Selector, response: Response): Iterable<Link> {
    const { processValue, canonicalize = false } = this.#options;
    for (const name of this.#attrs) {
      const value = element.attr(name);
      const processed = value === null || processValue === undefined ? value : processValue(value);
      const url = processed === null || processed === undefined ? null : response.linkUrl(processed.trim());
      if (url === null) continue;
      yield {
        url: canonicalize ? canonicalizeUrl(url) : url,
        text: element
          .elements()
          .map((each) => countedText(each, 'LinkExtractor'))
          .join(''),
        nofollow: NOFOLLOW.test(element.attr('rel') ?? ''),
      };
    }
  }
}

function urlTest(options: LinkExtractorOptions): (url: string) => boolean {
  const { allow, deny, allowDomains, denyDomains, denyExtensions = ignoredExtensions } = options;
  const isAllowed = patternTest(allow, 'allow') ?? (() => true);
  const isDenied = patternTest(deny, 'deny') ?? (() => false);
  const allowed = allowDomains === undefined ? null : listOf(allowDomains).map(lower);
  const denied = listOf(denyDomains).map(lower);
  const extensions = new Set(denyExtensions.map((extension) => lower(extension).replace(/^\./, '')));
  return (url) => {
    const { hostname, pathname } = new URL(url);
    if (allowed !== null && !isWithin(hostname, allowed)) return false;
    if (isWithin(hostname, denied) || extensions.has(extensionOf(pathname))) return false;
    return !isDenied(url) && isAllowed(url);
  };
}

function patternTest(patterns: Patterns | undefined, name: string): ((text: string) => boolean) | null {
  if (patterns === undefined || (Array.isArray(patterns) && patterns.length === 0)) return null;
  return matcher(patterns, `LinkExtractor({ ${name} })`);
}

function isWithin(hostname: string, domains: readonly string[]): boolean {
  return domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

/** `zip` for `/b.zip`, `gz` for `/b.tar.gz`; empty where there is none. */
function extensionOf(pathname: string): string {
  return /\.([^./]+)$/.exec(pathname)?.[1]?.toLowerCase() ?? '';
}

function listOf(given: string | readonly string[] | undefined): readonly string[] {
  if (given === undefined) return [];
  return typeof given === 'string' ? [given] : given;
}

function lower(text: string): string {
  return text.toLowerCase();
}

function refuseUnknown(options: LinkExtractorOptions): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(optionNames, name)) continue;
    throw new UsageError(
      `LinkExtractor has no option ${JSON.stringify(name)}; there are ${Object.keys(optionNames).join(', ')}`,
    );
  }
}
