/** What a user extends: one class a site, found by its `name`, its callbacks stored by name with each request. */
import type { Request } from '../http/message/request.js';
import type { Response } from '../http/message/response.js';
import { type Logger, silentLogger } from '../log.js';
import type { Settings, SettingsInput } from '../settings/schema.js';
import type { ItemSchema } from './item.js';
import type { RefreshRule } from './refresh.js';
import { parseSeed } from './seed.js';

/** What a spider is given when it is made. */
export interface SpiderContext {
  /** From `-a name=value`. */
  readonly args: Readonly<Record<string, string>>;
  readonly log: Logger;
  /** All settings in effect; empty while crawlnode only looks which spiders there are. */
  readonly settings: Settings;
}

const noContext: SpiderContext = { args: {}, log: silentLogger, settings: Object.freeze({}) as Settings };

/** The context of the spider under construction, so that `this.args` is there for its field initializers. */
let birth: SpiderContext = noContext;

/** What `makeRequestFromData` may give. */
export type MadeRequests = Request | Iterable<Request> | AsyncIterable<Request> | null | undefined;

/** The base of all spiders. Fields and methods bear Scrapy's names, in camel case. */
export class Spider {
  /** Names the spider on the command line and in every key of the store: `[A-Za-z0-9._-]{1,64}`. */
  name = '';
  /** Where to start. They are pushed once per job, by whichever node comes first. */
  startUrls: readonly (string | Request)[] = [];
  /** Only links to these hosts and their subdomains are followed, as in Scrapy. Without it all links are. */
  declare allowedDomains?: readonly string[];
  /** Which pages may be fetched again, such as lists. All other pages are fetched once per job. */
  declare refresh?: readonly RefreshRule[];
  /** Settings of this spider. They win over the settings file; the environment and the command line win over them. */
  customSettings: SettingsInput = {};
  /**
   * Checks every item: a schema of any library of the Standard Schema, such as zod. Its output is the item. An item that
   * breaks it fails the page.
   */
  declare item?: ItemSchema;

  /** What `-a name=value` gave, by name; a value is always text. */
  readonly args: SpiderContext['args'] = birth.args;
  /** The log of the node. */
  readonly log: Logger = birth.log;
  /** All settings in effect, by name. */
  readonly settings: Settings = birth.settings;

  /**
   * Called with every response whose request names no other callback. It may be a generator, sync or async, or
   * return an iterable, a promise, one item or one Request. Plain objects are items.
   */
  parse(response: Response): unknown {
    throw new Error(`the spider "${this.name}" has no method parse, which ${response.url} was requested for`);
  }

  /** Called once a node has joined the crawl, before its first page. */
  opened(): void | Promise<void> {}

  /** Called when the node leaves, with Scrapy's closing reason, such as `finished` or `shutdown`. */
  closed(_reason: string): void | Promise<void> {}

  /**
   * Turn one seed of the start_urls key into requests: one, several (it may be a generator), or none. Unless you override
   * it, a seed is a URL, or a JSON object with the fields of a request.
   * @throws anything when the seed is bad; it goes to `<start_urls>:bad` with the error's message.
   */
  makeRequestFromData(data: string): MadeRequests | Promise<MadeRequests> {
    return parseSeed(data);
  }

  /** The identity of a request, 40 hex digits in lower case; it takes the place of REQUEST_FINGERPRINTER. */
  fingerprint?(request: Request): string;
}

/** A spider as its module exports it. */
export type SpiderClass = new () => Spider;

/** Make a spider with its arguments, logger and settings in place before its own fields are set. */
export function createSpider(SpiderClass: SpiderClass, context: Partial<SpiderContext> = {}): Spider {
  birth = { ...noContext, ...context };
  try {
    return new SpiderClass();
  } finally {
    birth = noContext;
  }
}
