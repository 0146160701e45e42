/** The interface of spider middleware: modules between the node and the callbacks of a spider. */
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Spider } from '../../spider/spider.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';

/** What a callback yields: requests and items. */
// biome-ignore lint/suspicious/noExplicitAny: the middleware knows the fields of the items.
export type SpiderResult = Request | Record<string, any>;

/** The default export of a module of SPIDER_MIDDLEWARES: a class with some of these methods, or an object with them. */
export interface SpiderMiddleware {
  /** Called before the first page of the node. */
  open?(context: CrawlContext): unknown;
  /** Called with every response before its callback; may be async. What it throws goes to the errback instead. */
  processSpiderInput?(response: Response, spider: Spider): unknown;
  /** Called with what a callback yields; an async generator that yields what is to be kept, changed or added. */
  processSpiderOutput?(
    response: Response,
    results: AsyncIterable<SpiderResult>,
    spider: Spider,
  ): AsyncIterable<SpiderResult> | Iterable<SpiderResult>;
  /**
   * Called when the callback, or a `processSpiderOutput` nearer to it, threw.
   * @returns nothing to leave it to the next one; else requests and items (none is an empty list) that end the page well,
   *   beside what was yielded before the error
   */
  processSpiderException?(response: Response, error: Error, spider: Spider): unknown;
  /** Called after the last page of the node. */
  close?(): unknown;
}
