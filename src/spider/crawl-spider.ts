/** A spider that follows links by rules instead of code. Source: `scrapy.spiders.CrawlSpider`. */

import type { Callback, Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';
import type { Patterns } from '../http/url/url-patterns.js';
import { ignoredExtensions } from './ignored-extensions.js';
import { Spider } from './spider.js';

/** Which links of a page to follow, and what to do with the pages behind them. */
export interface Rule {
  /** A link must match one of these, anywhere in its absolute URL. Without `allow` every link matches. */
  readonly allow?: Patterns;
  /** A link must match none of these. It takes precedence over `allow`. */
  readonly deny?: Patterns;
  /** CSS selector of the parts of the page whose links count. It needs the page to be parsed into a tree. */
  readonly selector?: string;
  /** File extensions that are not followed. The default is images, archives, documents and the like. */
  readonly denyExtensions?: readonly string[];
  /** The method for the linked pages, by reference or name. Without it their links are followed, and no method is called. */
  readonly callback?: Callback | string;
  /** Whether the rules apply to the linked pages too. The default is true without a callback, false with one. */
  readonly follow?: boolean;
}

/**
 * Follows each link of a page once, by the first rule that matches it. Do not override `parse`, which applies the rules;
 * override `parseStartUrl` to process the start pages.
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
    const followed = new Set<string>();
    return this.rules.flatMap((rule, index) => {
      const matches = filterOf(rule);
      const links = linksFor(rule, response).filter((url) => !followed.has(url) && matches(url));
      for (const url of links) followed.add(url);
      return response.followAll(links, this.parseRule, { meta: { rule: index } });
    });
  }
}

function linksFor(rule: Rule, response: Response): readonly string[] {
  return rule.selector === undefined ? allLinks(response) : response.links({ selector: rule.selector });
}

/** The links of a page, cached because all rules of a spider use them. */
const linksByResponse = new WeakMap<Response, readonly string[]>();

function allLinks(response: Response): readonly string[] {
  let links = linksByResponse.get(response);
  if (links === undefined) {
    links = response.links();
    linksByResponse.set(response, links);
  }
  return links;
}

type UrlFilter = (url: string) => boolean;

const filtersByRule = new WeakMap<Rule, UrlFilter>();

function filterOf(rule: Rule): UrlFilter {
  let filter = filtersByRule.get(rule);
  if (filter === undefined) {
    filter = makeFilter(rule);
    filtersByRule.set(rule, filter);
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
  // With `g` or `y`, a pattern would keep state between two tests.
  return list.map((pattern) =>
    typeof pattern === 'string'
      ? new RegExp(pattern)
      : new RegExp(pattern, pattern.flags.replace(/[gy]/g, '')),
  );
}

/** `zip` for `http://a/b.zip?c`, `gz` for `b.tar.gz`; empty where there is none. */
function extensionOf(url: string): string {
  const path = url.replace(/^[^/]*\/\/[^/?#]*/, '').replace(/[?#].*/s, '');
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}
