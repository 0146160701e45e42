/** Messages about lost requests: requests whose records vanished from the store. */
import { howMany } from '../../format-amounts.js';
import type { CrawlState } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

/**
 * Such as `2 requests are lost: …`, with what to do.
 * @param crawl its arguments in a command
 * @param cameBack records that may be those of lost requests or of done ones
 */
export function lossMessage(lost: number, crawl: string, cameBack = 0): string {
  const what = `${howMany(lost, 'request')} ${lost === 1 ? 'is' : 'are'} lost: their records, or items that waited for a feed, vanished from the store`;
  if (cameBack === 0) {
    return (
      `${what}, because somebody deleted keys or rows, a stream of seeds was trimmed before nodes had read it, or Redis evicted them. ` +
      whatToDo(crawl, true)
    );
  }
  return (
    `${what}, and ${howMany(cameBack, 'record')} came back: somebody put the key back, probably as it was earlier, so these are of requests ` +
    `that are done. They are not crawled. Stop the nodes, and ${whatToDo(crawl, false)}; or have them crawled, with ` +
    `"crawlnode doctor ${crawl} --repair": then pages may be fetched twice`
  );
}

/** The ways out of a loss, the cheapest first. @param mayRepair false once it is known that no record is left to repair from */
export function whatToDo(crawl: string, mayRepair: boolean): string {
  const repair =
    `Stop the nodes and run "crawlnode doctor ${crawl} --repair": it brings back each request whose record is still there. ` +
    'If somebody has put records back as they were earlier, their pages may be fetched again. For the others: ';
  return (
    `${mayRepair ? repair : ''}restore a backup; or have all pages fetched again, with "crawlnode reset ${crawl} --only dupefilter", ` +
    `or with "crawlnode reset ${crawl}", which deletes the items and counters too; or go on without these pages and what they ` +
    `link to: "crawlnode doctor ${crawl} --accept-losses"`
  );
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
  #cameBack = 0;

  /** @param crawl its arguments in a command */
  constructor(log: Logger, crawl: string) {
    this.#log = log;
    this.#crawl = crawl;
  }

  /** Called when the node joins, and with every answer of the store. */
  hear({ lost, cameBack = 0 }: Pick<CrawlState, 'lost' | 'cameBack'>): void {
    this.#before ??= lost;
    this.#now = lost;
    this.#cameBack = cameBack;
    // Losses are found in batches, so another message is logged only when their number has doubled.
    if (lost === 0 || lost < 2 * this.#said || lost === this.#said) return;
    this.#said = lost;
    this.#log.error({ lost }, lossMessage(lost, this.#crawl, cameBack));
  }

  /** A sentence when requests were lost while this node took part; else null. It changes no exit code (`withLosses`). */
  get why(): string | null {
    return this.#now > (this.#before ?? 0) ? lossMessage(this.#now, this.#crawl, this.#cameBack) : null;
  }
}
