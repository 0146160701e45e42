/** The interface of extensions: modules that hear what happens in a crawl (Scrapy's signals). */
import type { JsonObject } from '../../http/message/record/request-record.js';
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Spider, StartRequests } from '../../spider/spider.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';

/** What hooks for an idle crawl may return: requests or URLs, or nothing. */
export type IdleRequests = StartRequests | Promise<StartRequests | undefined> | undefined;

/** What the methods of an extension are called with, by their names. */
export interface ExtensionEvents {
  /** The node has joined the crawl. */
  spiderOpened: { readonly spider: Spider };
  /** Nothing is left to crawl. */
  spiderIdle: { readonly spider: Spider };
  /** The node has left. `reason` is Scrapy's closing reason, such as `finished`. */
  spiderClosed: { readonly spider: Spider; readonly reason: string };
  /** `response` is null for an errback of a request without one. */
  spiderError: { readonly error: Error; readonly response: Response | null; readonly spider: Spider };
  /** A response that is neither retried nor a redirect. */
  responseReceived: { readonly response: Response; readonly request: Request; readonly spider: Spider };
  /** `reason` as in the summary, such as `offsite (not in allowedDomains)`. */
  requestDropped: { readonly url: string; readonly reason: string; readonly spider: Spider };
  /** The item is as it is after all pipelines. `response` is null for an item that waited for files. */
  itemScraped: ItemEvent;
  /** `error` is the DropItem of the pipeline. */
  itemDropped: ItemEvent & { readonly error: Error };
  /** `error` is what the pipeline threw. */
  itemError: ItemEvent & { readonly error: Error };
}

interface ItemEvent {
  readonly item: JsonObject;
  readonly response: Response | null;
  readonly spider: Spider;
}

/**
 * The default export of a module of EXTENSIONS: a class with some of these methods, or an object with them. Each may be
 * async. The page that a method hears of waits for it. What it throws is logged and counted, and costs the page nothing. CloseSpider
 * closes the crawl.
 */
export interface Extension {
  /** Called before the first page of the node. An error ends the node. */
  open?(context: CrawlContext): unknown;
  /** Called when the node has joined the crawl, after `opened()` of the spider. */
  spiderOpened?(event: ExtensionEvents['spiderOpened']): unknown;
  /**
   * Called on one node when nothing is left to crawl, before the crawl counts as complete. It may return requests or URLs, as
   * a list or a generator; then the crawl goes on, and it is called again later. Nodes without `--exit-when-done` call it every
   * five seconds while the crawl is idle.
   */
  spiderIdle?(event: ExtensionEvents['spiderIdle']): unknown;
  /** Called when the node has left, after `closed()` of the spider. */
  spiderClosed?(event: ExtensionEvents['spiderClosed']): unknown;
  /** Called when a callback or errback threw. */
  spiderError?(event: ExtensionEvents['spiderError']): unknown;
  /** Called with every response that is not retried and not a redirect, before its callback. */
  responseReceived?(event: ExtensionEvents['responseReceived']): unknown;
  /** Called with a request that a rule of the crawl, robots.txt or middleware dropped. Duplicates are only counted. */
  requestDropped?(event: ExtensionEvents['requestDropped']): unknown;
  /** Called with every item after the pipelines, before its page is committed. */
  itemScraped?(event: ExtensionEvents['itemScraped']): unknown;
  /** Called when a pipeline threw DropItem, or CloseSpider. */
  itemDropped?(event: ExtensionEvents['itemDropped']): unknown;
  /** Called when a pipeline threw another error. */
  itemError?(event: ExtensionEvents['itemError']): unknown;
  /** Called after the last page of the node. */
  close?(): unknown;
}
