/** A spider that follows links by rules instead of code. Source: `scrapy.spiders.CrawlSpider`. */

import type { Callback, Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';
import type { Patterns } from '../http/url/url-patterns.js';
import { ignoredExtensions } from './ignored-extensions.js';
import { Spider } from './spider.js';

/** Which links of a page to follow, and what to do with the pages behind them. */
export interface Rule {
  /** A link must match one of these, anywhere in its absolute URL; without any, every link does. */
  readonly allow?: Patterns;
  /** A link must match none of these; it wins over `allow`. */
  readonly deny?: Patterns;
  /** Only links in these parts of the page, by CSS. The page is parsed into a tree for it. */
  readonly selector?: string;
  /** Endings of paths that are not followed; images, archives, documents and the like unless given. */
  readonly denyExtensions?: readonly string[];
  /** The method for the pages behind the links, by reference or name. Without one they are only followed. */
  readonly callback?: Callback | string;
  /** Whether the rules apply to the pages behind the links too: true without a callback, false with one. */
  readonly follow?: boolean;
}

/**
 * Every link of a page is taken by the first rule that matches it, once a page. Do not override `parse`, which
 * applies the rules; override `parseStartUrl` for what the start pages hold.
 */
export class CrawlSpider extends Spider {
  /** Tried in this order for every link. */
  rules: readonly Rule[] = [];

  /** Called with the responses of start requests and seeds, before their links are followed. */
  parseStartUrl(_response: Response): unknown {
    return [];
  }

  override async *parse(response: Response): AsyncGenerator<unknown, void, undefined> {
    yield this.parseStartUrl(response);
    yield this.#requests(response);
  }

  /** The callback of every request made by a rule; `meta.rule` says which. */
  async *parseRule(response: Response): AsyncGenerator<unknown, void, undefined> {
    const rule = this.rules[Number(response.meta.rule)];
    if (rule === undefined) return; // made by an earlier version of the spider
    if (rule.callback !== undefined) yield this.#call(rule.callback, response);
    if (rule.follow ?? rule.callback === undefined) yield this.#requests(response);
  }

  #call(callback: Callback | string, response: Response): unknown {
    if (typeof callback === 'function') return callback.call(this, response);
    const method = (this as unknown as Record<string, unknown>)[callback];
    if (typeof method === 'function') return method.call(this, response);
    throw new Error(
      `a rule's callback, ${JSON.stringify(callback)}, is no method of the spider "${this.name}"`,
    );
  }

  #requests(response: Response): Request[] {
    const taken = new Set<string>();
    return this.rules.flatMap((rule, index) => {
      const wanted = filterOf(rule);
      const links = linksFor(rule, response).filter((url) => !taken.has(url) && wanted(url));
      for (const url of links) taken.add(url);
      return response.followAll(links, this.parseRule, { meta: { rule: index } });
    });
  }
}

function linksFor(rule: Rule, response: Response): readonly string[] {
  return rule.selector === undefined ? allLinks(response) : response.links({ selector: rule.selector });
}

/** The rules of a spider look at the same links, so the page is read once for all of them. */
const linksOf = new WeakMap<Response, readonly string[]>();

function allLinks(response: Response): readonly string[] {
  let links = linksOf.get(response);
  if (links === undefined) {
    links = response.links();
    linksOf.set(response, links);
  }
  return links;
}

type UrlFilter = (url: string) => boolean;

const filters = new WeakMap<Rule, UrlFilter>();

function filterOf(rule: Rule): UrlFilter {
  let filter = filters.get(rule);
  if (filter === undefined) {
    filter = makeFilter(rule);
    filters.set(rule, filter);
  }
  return filter;
}

function makeFilter({ allow, deny, denyExtensions = ignoredExtensions }: Rule): UrlFilter {
  const allowed = patterns(allow);
  const denied = patterns(deny);
  const extensions = new Set(denyExtensions.map((extension) => extension.replace(/^\./, '').toLowerCase()));
  return (url) =>
    !denied.some((pattern) => pattern.test(url)) &&
    (allowed.length === 0 || allowed.some((pattern) => pattern.test(url))) &&
    !extensions.has(extensionOf(url));
}

function patterns(given: Patterns = []): RegExp[] {
  const list = Array.isArray(given) ? given : [given];
  // `g` and `y` would make a pattern remember where it last matched.
  return list.map((pattern) =>
    typeof pattern === 'string'
      ? new RegExp(pattern)
      : new RegExp(pattern, pattern.flags.replace(/[gy]/g, '')),
  );
}

/** `zip` of `http://a/b.zip?c`; of `b.tar.gz` the last part is enough. Empty where there is none. */
function extensionOf(url: string): string {
  const path = url.replace(/^[^/]*\/\/[^/?#]*/, '').replace(/[?#].*/s, '');
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}
