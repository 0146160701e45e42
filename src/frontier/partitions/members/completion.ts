/**
 * When a crawl over several partitions is complete, and when its budgets are used up. No step sees all partitions at once.
 * So all are asked, then all again: if each was empty both times and nothing was accepted or has ended in it in between,
 * then all were empty at the instant between the two passes. A page in work is leased in its partition, so nothing was on its
 * way from one partition to another at that instant.
 */
import { budgetOf, closingReasons } from '../../budgets.js';
import type { CrawlState } from '../../frontier.js';
import type { PartLeases } from '../../redis/partitions/redis-partition.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';
import type { PartitionedLeases } from '../pages/partitioned-leases.js';

export class Completion {
  readonly #parts: readonly RedisFrontier[];
  readonly #leases: PartitionedLeases;

  constructor(parts: readonly RedisFrontier[], leases: PartitionedLeases) {
    this.#parts = parts;
    this.#leases = leases;
  }

  /** The state of the crawl as a node is to hear it. Closes the run where a budget is used up. */
  async judge(crawl: CrawlState, hasLeases: boolean, holding: number): Promise<CrawlState> {
    const closing = await this.#close(crawl.closing, holding);
    if (closing !== null) return { ...this.#leases.crawl(), closing, finished: false };
    if (!crawl.finished) return crawl;
    return { ...crawl, finished: !hasLeases && (await this.isComplete(holding)) };
  }

  async isComplete(holding = 0): Promise<boolean> {
    const first = await this.#leases.look(holding);
    if (!first.every(({ crawl }) => crawl.finished)) return false;
    const second = await this.#leases.look(holding);
    return second.every(({ crawl, part }, index) => crawl.finished && part.mark === first[index]?.part.mark);
  }

  /** @param reason with which a partition is closing already. @returns why the run closes; null if it goes on. */
  async #close(reason: string | null, holding: number): Promise<string | null> {
    if (reason !== null) {
      const budget = budgetOf(reason);
      if (!this.#leases.isClosingEverywhere)
        await this.#closeAll(reason, budget === null ? 0 : this.#leases.budgets[budget]);
      return reason;
    }
    const budget = this.#spent();
    if (budget === null) return null;
    // A released lease is no page. When nothing is leased anywhere, no page comes back.
    if (budget === 'maxPages' && !this.#isFinal(await this.#leases.look(holding))) return null;
    await this.#closeAll(closingReasons[budget], this.#leases.budgets[budget]);
    return closingReasons[budget];
  }

  async #closeAll(reason: string, limit: number): Promise<void> {
    await Promise.all(this.#parts.map(({ partition }) => partition.closeRun(reason, limit)));
  }

  #spent(): 'maxPages' | 'maxItems' | 'maxErrors' | null {
    const { maxPages, maxItems, maxErrors } = this.#leases.budgets;
    const states = this.#leases.states.filter((state) => state !== null);
    const sum = (of: (state: (typeof states)[number]) => number) =>
      states.reduce((total, state) => total + of(state), 0);
    if (maxPages > 0 && sum(({ runPages }) => runPages) >= maxPages) return 'maxPages';
    if (maxItems > 0 && sum(({ runItems }) => runItems) >= maxItems) return 'maxItems';
    return maxErrors > 0 && sum(({ runErrors }) => runErrors) >= maxErrors ? 'maxErrors' : null;
  }

  #isFinal(states: readonly PartLeases[]): boolean {
    const pages = states.reduce((sum, { part }) => sum + part.runPages, 0);
    return pages >= this.#leases.budgets.maxPages && states.every(({ part }) => part.leased === 0);
  }
}
