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
  /** Where to start; pushed once per job, by whichever node comes first. */
  startUrls: readonly (string | Request)[] = [];
  /** Links to other hosts than these and their subdomains are not followed, as in Scrapy; without it all are. */
  declare allowedDomains?: readonly string[];
  /** Pages that may be fetched again, such as lists; the others are fetched once a job. */
  declare refresh?: readonly RefreshRule[];
  /** Settings of this spider; they go before the settings file, and after environment and command line. */
  customSettings: SettingsInput = {};
  /** Any schema library of the Standard Schema, such as zod: what breaks it fails the page, and its output is the item. */
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
   * Turn one seed of the start_urls key into requests: one, several (it may be a generator), or none, and then the
   * seed is used up. As it comes: a URL, or a JSON object (see `parseSeed`).
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
