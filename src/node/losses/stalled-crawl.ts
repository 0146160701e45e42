/** Rebuilds the indexes of a crawl that stands still, when the store asks this node to (`CrawlState.stall`). */
import { howMany } from '../../format-amounts.js';
import type { CrawlState } from '../../frontier/frontier.js';
import type { IncarnationContext } from '../membership/incarnation-parts.js';

export class StalledCrawl {
  readonly #context: IncarnationContext;
  #isAtWork = false;

  constructor(context: IncarnationContext) {
    this.#context = context;
  }

  /** Called with every answer of the store. */
  offer({ stall }: CrawlState): void {
    if (stall !== 'rebuild' || this.#isAtWork) return;
    this.#isAtWork = true;
    this.#rebuild()
      .catch((error: unknown) => {
        if (!this.#context.halt.aborted) this.#context.onError(error);
      })
      .finally(() => {
        this.#isAtWork = false;
      });
  }

  async #rebuild(): Promise<void> {
    const { node, halt } = this.#context;
    const { frontier, log, readRecord } = node.deps;
    log.warn(
      {},
      'requests are left that no node can find, because somebody deleted keys or rows, or Redis evicted them: this node rebuilds the ' +
        'queues of the crawl from the records of its requests',
    );
    const rebuilt = await node.outage.through('rebuild', halt, () => frontier.rebuild(readRecord));
    if (rebuilt === null) return;
    const { pending, delayed, unreadable, losses } = rebuilt;
    const gone = losses.length === 0 ? '' : `; lost: ${losses.join('; ')}`;
    const failed = unreadable === 0 ? '' : `, ${howMany(unreadable, 'request')} failed as bad_record`;
    log.warn(
      { pending, delayed, unreadable, losses },
      `the crawl goes on: its queues were rebuilt, ${howMany(pending + delayed, 'request')} to fetch${failed}${gone}`,
    );
    node.alarm.ring();
  }
}
