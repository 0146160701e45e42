/** Run a callback on a page and collect the items and requests that it yields, in order. */
import { CrawlnodeError, closingReason, messageOf, UsageError } from '../errors.js';
import { SelectorList } from '../http/markup/selector.js';
import type { JsonObject } from '../http/message/record/request-record.js';
import {
  type Callback,
  type Errback,
  type FailedRequest,
  isUnfetchable,
  Request,
} from '../http/message/request.js';
import { followedOf, Response } from '../http/message/response.js';
import { maskUrls } from '../settings/mask-urls.js';
import { withinTimeout } from '../user-code/callback-timeout.js';
import { describeError, placeOf } from '../user-code/where-thrown.js';
import { resultsOfCall } from './callback-results.js';
import { callbackName } from './callbacks.js';
import { type DiscoveredRequest, plainLink } from './discovered-request.js';
import { noteFields } from './empty-fields.js';
import { toItem } from './item.js';
import { scrapyHint } from './scrapy-calls.js';
import type { Spider } from './spider.js';

/** The argument of an errback: why a request did not reach its callback, after all retries. */
export interface Failure extends FailedRequest {
  /** Null when the server did not respond. */
  readonly response: Response | null;
  /** The request that failed. */
  readonly request: Request;
}

export { callbackName } from './callbacks.js';

/** The items and requests of one page. */
export interface PageResult {
  readonly items: JsonObject[];
  readonly requests: DiscoveredRequest[];
  /** URLs of links that no client can fetch, such as `mailto:`, which the callback followed. */
  readonly unfetchable: string[];
  /** Why the callback ended early, where `PageLimits.keepsErrors` is set; null when it came to its end. */
  readonly error: CrawlnodeError | null;
  /** The reason of a CloseSpider that ended the callback; null for none. */
  readonly closing: string | null;
}

const nothing: PageResult = { items: [], requests: [], unfetchable: [], error: null, closing: null };

/** Limits for one page. */
export interface PageLimits {
  /** Default 10,000 (`MAX_SETTLE_ITEMS`); a page that yields more fails as `too_many_items`. */
  readonly maxItems?: number;
  /** A callback that is not over after this time fails as `callback_timeout`; no bound by default. */
  readonly callbackTimeoutMs?: number;
  /** CALLBACK_ERROR `keep`: an error of the callback is part of the result, with what it yielded before. */
  readonly keepsErrors?: boolean;
  /** Wraps the results of the callback, as spider middleware does. */
  readonly through?: (results: AsyncIterable<unknown>) => AsyncIterable<unknown>;
  /** For messages: which module produced a result that came `through` it; null for the callback itself. */
  readonly producerOf?: (result: unknown) => string | null;
}

/**
 * Call a spider's method (`parse` when null) with a response.
 * @throws CrawlnodeError whose message names spider, callback and URL, with the original error as `cause`. Its code is that
 *   of the CrawlnodeError in the callback (`invalid_item`, `invalid_request`, `unknown_callback`, `too_many_items`), else
 *   `callback_failed`; `callback_timeout` when it was not over in time.
 */
export function runCallback(
  spider: Spider,
  method: string | null,
  response: Response,
  limits: PageLimits = {},
): Promise<PageResult> {
  return run(spider, method ?? 'parse', response, response.url, limits);
}

/** Call the errback of a request; without one the result is empty. Throws as `runCallback` does. */
export async function runErrback(
  spider: Spider,
  method: string | null,
  failure: Failure,
  limits: PageLimits = {},
): Promise<PageResult> {
  if (method === null) return nothing;
  return run(spider, method, failure, failure.request.url, limits);
}

async function run(
  spider: Spider,
  method: string,
  argument: Response | Failure,
  url: string,
  limits: PageLimits,
): Promise<PageResult> {
  const page = new Page(spider, url, limits.maxItems ?? 10_000);
  try {
    callbackName(spider, method); // the stored request may name a method that was removed
    const callback = (spider as unknown as Record<string, Callback | Errback>)[method]!;
    const call = () => callback.call(spider, argument as never, argument.request.cbKwargs);
    const results = page.add(limits.through === undefined ? call() : limits.through(resultsOfCall(call)));
    await withinTimeout(results, limits.callbackTimeoutMs);
    const response = argument instanceof Response ? argument : argument.response;
    // Middleware may have dropped what the callback yielded.
    if (response !== null && limits.through === undefined) warnOfUnfollowed(spider, method, response, page);
  } catch (error) {
    page.isOver = true;
    page.closing = closingReason(error);
    if (page.closing !== null) return page;
    const producer = error === page.refused?.error ? limits.producerOf?.(page.refused?.value) : null;
    const described = callbackError(producer ?? `${spider.name}.${method}`, url, error);
    if (limits.keepsErrors !== true) throw described;
    page.error = described;
  }
  return page;
}

/** Spiders that have yielded an empty item. */
const warnedOfEmpty = new WeakSet<Spider>();

/** The callbacks of a spider that have yielded requests, or that a warning has named. */
const followingCallbacks = new WeakMap<Spider, Set<string>>();
/** The selectors that a warning has named. */
const noLinkSelectors = new WeakMap<Spider, Set<string>>();

/**
 * Requests that a callback made and did not yield are lost, and elements that are no links give none: both look like a site
 * without further pages. A callback may drop all requests of a page on purpose, so one that has yielded some is not warned of.
 */
function warnOfUnfollowed(spider: Spider, method: string, response: Response, page: Page): void {
  const { requests = 0, noLinks = null } = followedOf(response) ?? {};
  const { url } = response;
  if (page.requests.length > 0 || page.unfetchable.length > 0) {
    isNew(followingCallbacks, spider, method);
  } else if (requests > 0 && isNew(followingCallbacks, spider, method)) {
    spider.log.warn(
      { url, requests },
      `${method} made requests by follow() or followAll() and yielded none of them: is yield or yield* missing? This is said once`,
    );
  }
  if (noLinks !== null && isNew(noLinkSelectors, spider, noLinks)) {
    spider.log.warn(
      { url },
      `followAll() found no link: ${noLinks} selects elements other than a, area, link and img; select the links in them. This is said once`,
    );
  }
}

function isNew(of: WeakMap<Spider, Set<string>>, spider: Spider, name: string): boolean {
  const names = of.get(spider) ?? new Set();
  if (names.has(name)) return false;
  of.set(spider, names.add(name));
  return true;
}

/** Lists may come from a page, as `response.json()` does; thousands within each other would overflow the stack. */
const MAX_NESTED_LISTS = 100;

/** Further requests of a page are held in a smaller form, where they have one. */
const MANY_REQUESTS = 10_000;

class Page implements PageResult {
  readonly items: JsonObject[] = [];
  readonly requests: DiscoveredRequest[] = [];
  readonly unfetchable: string[] = [];
  error: CrawlnodeError | null = null;
  closing: string | null = null;
  /** Set when the callback failed. A callback that exceeded its time still runs; its further results are refused. */
  isOver = false;
  /** The result that was refused and so ended the page, of results that came one by one. */
  refused: { readonly value: unknown; readonly error: unknown } | null = null;
  readonly #spider: Spider;
  readonly #url: string;
  readonly #maxItems: number;
  /** Of the lists that are being added, each within the one before. */
  #depth = 0;

  constructor(spider: Spider, url: string, maxItems: number) {
    this.#spider = spider;
    this.#url = url;
    this.#maxItems = maxItems;
  }

  /** Add one yielded value. Returns a promise only for an asynchronous value, as a page may yield hundreds of links. */
  add(value: unknown): Promise<void> | undefined {
    if (this.isOver) throw new CrawlnodeError('callback_timeout', 'the page is over');
    if (value instanceof Request) return this.#addRequest(value);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object') {
      const isUrl = typeof value === 'string' && /^(?:https?:)?\//.test(value);
      const hint = isUrl ? ': for a link, yield response.follow(url)' : '';
      throw new CrawlnodeError(
        'invalid_item',
        `a callback yields plain objects and Requests, not a ${typeof value}${hint}`,
      );
    }
    if (value instanceof Error) {
      throw new CrawlnodeError(
        'invalid_item',
        `a callback throws errors, it does not yield them: ${messageOf(value)}`,
      );
    }
    if (typeof (value as PromiseLike<unknown>).then === 'function')
      return this.#addPromised(value as PromiseLike<unknown>);
    if (Symbol.asyncIterator in value) return this.#addStream(value as AsyncIterable<unknown>);
    // A selection is iterable too, but yielding one is a mistake. The item check reports it.
    const isIterable = Symbol.iterator in value && !(value instanceof SelectorList);
    return isIterable ? this.#addAll(value as Iterable<unknown>) : this.#addItem(value);
  }

  #addRequest(request: Request): undefined {
    const callback = callbackName(this.#spider, request.callback);
    if (isUnfetchable(request)) {
      this.unfetchable.push(request.url);
      return;
    }
    const name = callback === 'parse' ? null : callback; // the default is omitted, which keeps stored records small
    const small = this.requests.length < MANY_REQUESTS ? null : plainLink(request, name);
    this.requests.push(
      small ?? { request, callback: name, errback: callbackName(this.#spider, request.errback) },
    );
  }

  #addItem(value: object): Promise<void> | undefined {
    if (this.items.length >= this.#maxItems) {
      throw new CrawlnodeError('too_many_items', `a page yields at most ${this.#maxItems} items`);
    }
    const item = toItem(value, this.#spider.item);
    noteFields(this.#spider, value);
    if (item instanceof Promise) return item.then((settled) => this.#addChecked(settled));
    return this.#addChecked(item);
  }

  #addChecked(item: JsonObject): undefined {
    if (this.isOver) return;
    this.items.push(item);
    if (Object.keys(item).length === 0) this.#warnOfEmpty();
  }

  /** On a page without the fields, `get()?.trim()` gives undefined, so this is no error. But it is often a misspelt property. */
  #warnOfEmpty(): void {
    if (warnedOfEmpty.has(this.#spider)) return;
    warnedOfEmpty.add(this.#spider);
    this.#spider.log.warn(
      { url: this.#url },
      'an item has no field with a value, and is stored as {}; are its fields undefined by mistake? This is said once',
    );
  }

  async #addPromised(promise: PromiseLike<unknown>): Promise<void> {
    await this.add(await promise);
  }

  /** Synchronous while nothing is pending, which saves most pages a promise and a timer. */
  #addAll(values: Iterable<unknown>): Promise<void> | undefined {
    if (this.#depth === MAX_NESTED_LISTS) {
      throw new CrawlnodeError(
        'invalid_item',
        `a callback yields no lists that are nested more than ${MAX_NESTED_LISTS} levels deep`,
      );
    }
    const iterator = values[Symbol.iterator]();
    this.#depth += 1;
    try {
      const pending = this.#addNext(iterator);
      return pending === undefined ? undefined : this.#addRest(iterator, pending);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Add values up to the first that is pending; at the end also what a generator returned. */
  #addNext(iterator: Iterator<unknown>): Promise<void> | undefined {
    for (let next = iterator.next(); ; next = iterator.next()) {
      if (next.done === true) return this.add(next.value);
      try {
        const pending = this.add(next.value);
        if (pending !== undefined) return pending;
      } catch (error) {
        iterator.return?.();
        throw error;
      }
    }
  }

  async #addRest(iterator: Iterator<unknown>, first: Promise<void>): Promise<void> {
    for (let pending: Promise<void> | undefined = first; pending !== undefined; ) {
      try {
        await pending;
      } catch (error) {
        iterator.return?.();
        throw error;
      }
      pending = this.#addNext(iterator);
    }
  }

  /** Add the values of an async generator, and what it returned. (`for await` drops the latter.) */
  async #addStream(values: AsyncIterable<unknown>): Promise<void> {
    const iterator = values[Symbol.asyncIterator]();
    for (let isOver = false; !isOver; ) {
      const next = await iterator.next();
      isOver = next.done === true;
      try {
        const pending = this.add(next.value);
        if (pending !== undefined) await pending;
      } catch (error) {
        this.refused ??= { value: next.value, error };
        // The error of the page matters, not one of ending its generator.
        if (!isOver) await iterator.return?.()?.then(undefined, () => {});
        throw error;
      }
    }
  }
}

function callbackError(name: string, url: string, error: unknown): CrawlnodeError {
  const isCrawlnodeError = error instanceof CrawlnodeError;
  const reason = isCrawlnodeError ? error.message : `${describeError(error)}${scrapyHint(error)}`;
  // This message is logged and stored, and a URL may contain a password.
  const message = maskUrls(`${name} failed on ${url}: ${reason}${placeOf(error)}`);
  // A UsageError, such as one for an invalid selector, is an ordinary error of the callback.
  const code = isCrawlnodeError && !(error instanceof UsageError) ? error.code : 'callback_failed';
  return new CrawlnodeError(code, message, { cause: error });
}
