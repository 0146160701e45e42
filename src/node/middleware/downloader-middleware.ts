/** The interface of downloader middleware: modules between the node and the downloader. */
import type { OutgoingRequest } from '../../http/message/outgoing-request.js';
import type { Request } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import type { Spider } from '../../spider/spider.js';
import type { CrawlContext } from '../../user-code/crawl-context.js';

/**
 * The default export of a module of DOWNLOADER_MIDDLEWARES: a class with some of these methods, or an object with them.
 * Each may be async. A method that throws IgnoreRequest drops the page.
 */
export interface DownloaderMiddleware {
  /** Called before the first page of the node. */
  open?(context: CrawlContext): unknown;
  /**
   * Called before the download. The request may be changed in place.
   * @returns nothing to go on; a Response in place of the download; a Request to be crawled in place of this one
   */
  processRequest?(request: OutgoingRequest, spider: Spider): MiddlewareResult<Response | Request | undefined>;
  /**
   * Called with every response, those of other middleware included.
   * @returns the response or another one; or a Request to be crawled in place of this one
   */
  processResponse?(
    request: OutgoingRequest,
    response: Response,
    spider: Spider,
  ): MiddlewareResult<Response | Request>;
  /**
   * Called when the download failed, or a `processRequest` threw.
   * @returns nothing to leave it to the next one; a Response in place of the error; a Request to be crawled instead
   */
  processException?(
    request: OutgoingRequest,
    error: Error,
    spider: Spider,
  ): MiddlewareResult<Response | Request | undefined>;
  /** Called after the last page of the node. */
  close?(): unknown;
}

/** A value, or a promise of it. Undefined includes a method that returns nothing, and null counts as nothing. */
export type MiddlewareResult<T> = undefined extends T
  ? // biome-ignore lint/suspicious/noConfusingVoidType: a method without a return statement is void.
    T | null | void | Promise<T | null | void>
  : T | Promise<T>;
