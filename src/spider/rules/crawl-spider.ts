/** A spider that follows links by rules instead of code. Source: `scrapy.spiders.CrawlSpider`. */
import { UsageError } from '../../errors.js';
import type {
  Callback,
  CallbackResults,
  CbKwargs,
  Errback,
  Request,
  Yielded,
} from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Patterns } from '../../http/url/url-patterns.js';
import { type CallbackName, Spider } from '../spider.js';
import { type Link, LinkExtractor } from './link-extractor.js';

/** Which links of a page to follow, and what to do with the pages behind them. */
export interface Rule<S extends Spider = Spider> {
  /** A link must match one of these, anywhere in its absolute URL. Without `allow` every link matches. */
  readonly allow?: Patterns;
  /** A link must match none of these. It takes precedence over `allow`. */
  readonly deny?: Patterns;
  /** CSS selector of the parts of the page whose links count. It needs the page to be parsed into a tree. */
  readonly selector?: string;
  /** File extensions that are not followed. The default is images, archives, documents and the like. */
  readonly denyExtensions?: readonly string[];
  /** Which links count, in place of `allow`, `deny`, `selector` and `denyExtensions`. */
  readonly linkExtractor?: LinkExtractor;
  /** Called with the links of a page that the rule extracted. It returns those to follow, changed or not. */
  readonly processLinks?: (links: readonly Link[], response: Response) => readonly Link[];
  /** Called with each request of the rule. It returns the request to make, changed or not, or null for none. */
  readonly processRequest?: (request: Request, response: Response) => Request | null;
  /** The method for linked pages that cannot be downloaded, by reference or name. */
  readonly errback?: Errback | CallbackName<S>;
  /** The method for the linked pages, by reference or name. Without it their links are followed, and no method is called. */
  // biome-ignore lint/suspicious/noExplicitAny: each method says which meta and cbKwargs it takes.
  readonly callback?: ((response: Response<any>, cbKwargs: any) => CallbackResults) | CallbackName<S>;
  /** Arguments for `callback`, its second parameter. */
  readonly cbKwargs?: CbKwargs;
  /** Whether the rules apply to the linked pages too. The default is true without a callback, false with one. */
  readonly follow?: boolean;
}

/**
 * Follows each link of a page once, by the first rule that matches it. Do not override `parse`, which applies the rules;
 * override `parseStartUrl` to process the start pages.
 */
export class CrawlSpider extends Spider {
  /** Tried in this order for every link. */
  // biome-ignore lint/suspicious/noExplicitAny: `Rule<Shop>[]`, of the class itself, must be allowed too.
  rules: readonly Rule<any>[] = [];

  /** Called with the responses of start requests and seeds, before their links are followed. */
  parseStartUrl(_response: Response, _cbKwargs?: CbKwargs): CallbackResults {
    return [];
  }

  override async *parse(
    response: Response,
    cbKwargs: CbKwargs = {},
  ): AsyncGenerator<Yielded, void, undefined> {
    yield this.parseStartUrl(response, cbKwargs) as Yielded;
    yield this.#requests(response);
  }

  /** The callback of every request made by a rule; `meta.rule` says which. */
  async *parseRule(response: Response, cbKwargs: CbKwargs = {}): AsyncGenerator<Yielded, void, undefined> {
    const index = response.meta.rule;
    if (index === undefined) throw new Error('the request has lost meta.rule, the number of its rule');
    const rule = this.rules[Number(index)];
    if (rule === undefined) return; // made by an earlier version of the spider
    const all = { ...rule.cbKwargs, ...cbKwargs };
    if (rule.callback !== undefined) yield this.#call(rule.callback, response, all) as Yielded;
    if (rule.follow ?? rule.callback === undefined) yield this.#requests(response);
  }

  #call(callback: Callback | string, response: Response, cbKwargs: CbKwargs): unknown {
    if (typeof callback === 'function') return callback.call(this, response, cbKwargs);
    const method = (this as unknown as Record<string, unknown>)[callback];
    if (typeof method === 'function') return method.call(this, response, cbKwargs);
    throw new Error(
      `a rule's callback, ${JSON.stringify(callback)}, is not a method of the spider "${this.name}"`,
    );
  }

  #requests(response: Response): Request[] {
    const followed = new Set<string>();
    return this.rules.flatMap((rule, index) => {
      const links = linksFor(rule, response).filter(({ url }) => !followed.has(url));
      for (const { url } of links) followed.add(url);
      const wanted = rule.processLinks === undefined ? links : rule.processLinks.call(this, links, response);
      if (!Array.isArray(wanted)) {
        throw new UsageError(`processLinks of rules[${index}] returned no list of links`);
      }
      const options = { meta: { rule: index }, ...(rule.errback !== undefined && { errback: rule.errback }) };
      const urls = wanted.map(({ url }) => url);
      const requests = response.followAll(urls, this.parseRule, options);
      const { processRequest } = rule;
      if (processRequest === undefined) return requests;
      return requests
        .flatMap((request) => processRequest.call(this, request, response) ?? [])
        .map((request) => withRule(request, index));
    });
  }
}

/** A request of `processRequest` may have lost the number of its rule with a `meta` of its own. */
function withRule(request: Request, rule: number): Request {
  const { callback, meta } = request;
  const isOfRule = callback === 'parseRule' || callback === CrawlSpider.prototype.parseRule;
  return isOfRule && meta.rule !== rule ? request.replace({ meta: { ...meta, rule } }) : request;
}

/** The first rule that a link to this URL matches, by its patterns alone; undefined without one, and for another kind of spider. */
export function ruleFor(spider: Spider, url: string): Rule | undefined {
  if (!(spider instanceof CrawlSpider)) return undefined;
  return spider.rules.find((rule) => (rule.linkExtractor ?? extractorOf(rule)).matches(url));
}

/** The links that a rule extracts. Only a LinkExtractor and `processLinks` look at the text of a link. */
function linksFor(rule: Rule, response: Response): readonly Link[] {
  if (rule.linkExtractor !== undefined) return rule.linkExtractor.extractLinks(response);
  if (rule.processLinks !== undefined) return extractorOf(rule).extractLinks(response);
  const urls = rule.selector === undefined ? allLinks(response) : response.links({ selector: rule.selector });
  const extractor = extractorOf(rule);
  return urls.filter((url) => extractor.matches(url)).map((url) => ({ url, text: '', nofollow: false }));
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

const extractors = new WeakMap<Rule, LinkExtractor>();

/** The extractor that a rule's own fields describe. @throws UsageError for a pattern or a selector that cannot be read */
export function extractorOf(rule: Rule): LinkExtractor {
  let extractor = extractors.get(rule);
  if (extractor === undefined) {
    const { allow, deny, selector, denyExtensions } = rule;
    extractor = new LinkExtractor({
      ...(allow !== undefined && { allow }),
      ...(deny !== undefined && { deny }),
      ...(selector !== undefined && { restrictCss: selector }),
      ...(denyExtensions !== undefined && { denyExtensions }),
    });
    extractors.set(rule, extractor);
  }
  return extractor;
}
