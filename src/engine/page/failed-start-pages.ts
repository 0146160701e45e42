/**
 * Start pages that come to nothing. From one of them nothing follows, so whoever has just written a spider hears of it;
 * of pages that are discovered the counters and the failed list tell.
 */
import type { RequestRecord } from '../../http/message/request-record.js';
import type { Logger } from '../../log.js';

/** A list of ten thousand dead seeds is no news any more. */
const TOLD = 10;

export class LostStarts {
  readonly #log: Logger;
  #told = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param why what became of it, in a sentence. */
  tell({ url, depth, errback }: RequestRecord, why: string): void {
    if (depth > 0 || errback !== null || this.#told >= TOLD) return;
    this.#told += 1;
    const last = this.#told === TOLD ? '; of further ones only DEBUG tells' : '';
    this.#log.warn({ url }, `nothing comes of a start page: ${why}${last}`);
  }
}
