/** The base class of spiders. A spider is found by its `name`; each request stores the names of its callbacks. */
import type { CallbackResults, CbKwargs, Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';
import { type Logger, type SpiderLogger, silentLogger, spiderLogger } from '../log.js';
import type { Settings, SettingsInput } from '../settings/schema.js';
import { type Stats, uncountedStats } from '../stats/stats.js';
import type { ItemSchema } from './item.js';
import { parseSeed } from './parse-seed.js';
import type { RefreshRule } from './refresh.js';

/** What a spider gets when it is created. */
export interface SpiderContext {
  /** From `-a name=value`. */
  readonly args: Readonly<Record<string, string>>;
  /** The log of the node. */
  readonly log: Logger;
  /** All settings in effect; empty while crawlnode only lists the spiders. */
  readonly settings: Settings;
  /** Stats of one's own. */
  readonly stats: Stats;
}

const noContext: SpiderContext = {
  args: {},
  log: silentLogger,
  settings: Object.freeze({}) as Settings,
  stats: uncountedStats,
};

/** The context of the spider under construction. A class field initializer cannot receive it as an argument. */
let constructionContext: SpiderContext = noContext;

/** What `makeRequestFromData` may return. */
export type MadeRequests = Request | Iterable<Request> | AsyncIterable<Request> | null | undefined;

/** What `start()` may return: requests or URLs, in a list or from a generator. */
export type StartRequests =
  | Iterable<Request | string>
  | AsyncIterable<Request | string>
  | Promise<Iterable<Request | string>>;

/** The base class of all spiders. Fields and methods have Scrapy's names, in camel case. */
export class Spider {
  /** Names the spider on the command line and in every key of the store: `[A-Za-z0-9._-]{1,64}`. */
  name = '';
  /** The first requests of a crawl. They are pushed once for a job and arguments, by the first node. A `start()` replaces them. */
  startUrls: readonly (string | Request)[] = [];
  /** Only links to these hosts and their subdomains are followed, as in Scrapy. Without it all links are. */
  declare allowedDomains?: readonly string[];
  /** The user name of HTTP basic authentication, sent to `httpAuthDomain`. */
  declare httpUser?: string;
  /** The password of HTTP basic authentication. */
  declare httpPass?: string;
  /** The domain, with its subdomains, that gets `httpUser` and `httpPass`; null sends them to every site. */
  declare httpAuthDomain?: string | null;
  /** Which pages may be fetched again, such as lists. All other pages are fetched once per job. */
  declare refresh?: readonly RefreshRule[];
  /** Settings of this spider. They override the settings file. The environment and the command line override them. */
  customSettings: SettingsInput = {};
  /**
   * Validates every item: a schema of any library that implements Standard Schema, such as zod. Its output becomes the
   * item. An invalid item fails the page.
   */
  declare item?: ItemSchema;

  /** Arguments from `-a name=value`, by name. Values are always text. */
  readonly args: SpiderContext['args'] = constructionContext.args;
  /** The log of the node. */
  readonly log: SpiderLogger = spiderLogger(constructionContext.log);
  /** All settings in effect, by name. */
  readonly settings: Settings = constructionContext.settings;
  /**
   * Stats of one's own, for all nodes together. Changes in a callback are committed with its page, so a page that is tried
   * again counts once: `this.stats.incValue('prices/missing')`.
   */
  readonly stats: Stats = constructionContext.stats;

  /**
   * Makes the start requests, as a sync or async generator: of any number, read as fast as they are crawled. It replaces
   * `startUrls`. One node runs it, once for a job and arguments. When that node dies, another one runs it again from its
   * beginning, and requests that were accepted before are duplicates. With `refresh` rules, or fingerprints that expire, it
   * runs once in each run. The crawl is complete only when it has returned.
   * ```ts
   * async *start() {
   *   for await (const { id } of database.query('SELECT id FROM product')) {
   *     yield new Request(`https://shop.example/product/${id}`, { callback: this.parseProduct });
   *   }
   * }
   * ```
   */
  start?(): StartRequests;

  /**
   * Called with every response whose request names no other callback. It may be a sync or async generator, or return an
   * iterable, a promise, one item or one Request. Plain objects are items. Like every callback it gets the request's `cbKwargs`
   * as its second argument.
   */
  parse(response: Response, _cbKwargs?: CbKwargs): CallbackResults {
    throw new Error(`the spider "${this.name}" has no method parse, which ${response.url} was requested for`);
  }

  /** Called once a node has joined the crawl, before its first page. */
  opened(): void | Promise<void> {}

  /**
   * Called on one node when nothing is left to crawl, before the crawl counts as complete. What it returns or yields, requests or URLs, is
   * crawled, and it is called again when that is done. Nodes without `--exit-when-done` call it every five seconds while
   * the crawl is idle.
   */
  idle?(): StartRequests | Promise<StartRequests | undefined> | undefined;

  /** Called when the node leaves, with Scrapy's closing reason, such as `finished` or `shutdown`. */
  closed(_reason: string): void | Promise<void> {}

  /**
   * Turn one seed of the start_urls key into no, one or several requests; it may be a generator. By default a seed is a URL
   * or a JSON object with the fields of a request.
   * @throws any error when the seed is bad. The seed then goes to `<start_urls>:bad` with the message of the error.
   */
  makeRequestFromData(data: string): MadeRequests | Promise<MadeRequests> {
    return parseSeed(data);
  }

  /** The identity of a request, 40 hex digits in lower case. It replaces REQUEST_FINGERPRINTER. */
  fingerprint?(request: Request): string;
}

/**
 * The names of the methods of a spider that can be callbacks, so that the compiler checks a callback given by name:
 * `rules: Rule<Shop>[] = [{ callback: 'parseProduct' }]`. Any text for `Spider` itself, whose methods are not known.
 */
export type CallbackName<S extends Spider> = Spider extends S
  ? string
  : string &
      {
        [K in keyof S]: S[K] extends (...args: never[]) => unknown ? K : never;
      }[Exclude<keyof S, Exclude<keyof Spider, 'parse'>>];

/** The class of a spider, as its module exports it. */
export type SpiderClass = new () => Spider;

/** Create a spider. Its arguments, logger and settings are available to its field initializers. */
export function createSpider(SpiderClass: SpiderClass, context: Partial<SpiderContext> = {}): Spider {
  constructionContext = { ...noContext, ...context };
  try {
    return new SpiderClass();
  } finally {
    constructionContext = noContext;
  }
}
