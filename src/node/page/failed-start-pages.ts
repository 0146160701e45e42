/** Failed start pages. A crawl cannot continue from them, so authors of new spiders get a clear message. */
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Logger } from '../../log.js';

/** Only the first of them get the message; the others are logged like any other page. */
const TOLD = 10;

export class FailedStartPages {
  readonly #log: Logger;
  #told = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param why what happened to the page, in a sentence. @returns whether it was a start page, and logged here. */
  tell({ url, depth, errback }: RequestRecord, why: string): boolean {
    if (depth > 0 || errback !== null || this.#told >= TOLD) return false;
    this.#told += 1;
    this.#log.warn({ url }, `nothing can be crawled from a start page: ${why}`);
    return true;
  }
}
