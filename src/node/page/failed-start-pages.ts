/** Start pages that failed. Nothing follows from one of them, so whoever has just written a spider is told in plain words. */
import type { RequestRecord } from '../../http/message/record/request-record.js';
import type { Logger } from '../../log.js';

/** The first of many say it; the others are logged like any other page. */
const TOLD = 10;

export class LostStarts {
  readonly #log: Logger;
  #told = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param why what became of it, in a sentence. @returns whether it was such a page, and told. */
  tell({ url, depth, errback }: RequestRecord, why: string): boolean {
    if (depth > 0 || errback !== null || this.#told >= TOLD) return false;
    this.#told += 1;
    this.#log.warn({ url }, `nothing can be crawled from a start page: ${why}`);
    return true;
  }
}
