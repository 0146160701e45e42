/** Messages about lost requests: requests whose records vanished from the store. */
import type { CrawlState } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

/** Such as `2 requests are lost: …`, with what to do. @param crawl its arguments in a command */
export function lossMessage(lost: number, crawl: string): string {
  return (
    `${requestsAre(lost)} lost: their records vanished from the store, because somebody deleted keys or rows, or Redis ` +
    `evicted them. Restore a backup, or begin anew with "crawlnode reset ${crawl}"; or have all pages fetched again: ` +
    `"crawlnode reset ${crawl} --only dupefilter", then seed the first ones`
  );
}

function requestsAre(lost: number): string {
  return lost === 1 ? '1 request is' : `${lost.toLocaleString('en')} requests are`;
}

/**
 * The lost requests of a crawl, as one node learns of them. They are logged at once, and again when there are many more.
 */
export class Losses {
  readonly #log: Logger;
  readonly #crawl: string;
  #before: number | null = null;
  #now = 0;
  #said = 0;

  /** @param crawl its arguments in a command */
  constructor(log: Logger, crawl: string) {
    this.#log = log;
    this.#crawl = crawl;
  }

  /** Called when the node joins, and with every answer of the store. */
  hear({ lost }: Pick<CrawlState, 'lost'>): void {
    this.#before ??= lost;
    this.#now = lost;
    // Losses are found in batches, so another message is logged only when their number has doubled.
    if (lost === 0 || lost < 2 * this.#said || lost === this.#said) return;
    this.#said = lost;
    this.#log.error({ lost }, lossMessage(lost, this.#crawl));
  }

  /** A sentence when requests were lost while this node took part; else null. */
  get why(): string | null {
    return this.#now > (this.#before ?? 0) ? lossMessage(this.#now, this.#crawl) : null;
  }
}
