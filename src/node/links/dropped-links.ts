/**
 * Warns of links that the store drops because the queue or a domain is full. Each reason is logged once; counters hold the
 * numbers.
 */
import type { PushAnswer } from '../../frontier/frontier.js';
import type { Logger } from '../../log.js';

const messages = {
  dropped:
    'the queue holds twice SCHEDULER_QUEUE_LIMIT, or the crawl takes more than SCHEDULER_MEMORY_LIMIT: new links are dropped until there is room, and counted as scheduler/dropped; they are not remembered as seen',
  trapped:
    'a domain has as many pages as URL_PAGES_PER_DOMAIN_LIMIT allows: new links to it are dropped, and counted as trap/domain_pages; they are not remembered as seen',
} as const;

export class DroppedLinks {
  readonly #log: Logger;
  readonly #said = new Set<keyof typeof messages>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param answer to links that were pushed or settled. */
  hear(answer: Pick<PushAnswer, keyof typeof messages>): void {
    for (const reason of ['dropped', 'trapped'] as const) {
      const count = answer[reason];
      if (count === undefined || this.#said.has(reason)) continue;
      this.#said.add(reason);
      this.#log.warn({ [reason]: count }, messages[reason]);
    }
  }
}
