/** Writes the changes of the user's stats that belong to no page, such as those of `opened()`, `start()` and timers. */
import { messageOf } from '../../errors.js';
import type { Snapshot, StatChange } from '../../frontier/frontier.js';
import type { NodeDeps } from '../node-options.js';

export class OutsideStats {
  readonly #deps: Pick<NodeDeps, 'frontier' | 'stats' | 'log'>;
  /** Those that are being written. */
  #writing: Promise<void> | null = null;

  constructor({ frontier, stats, log }: NodeDeps) {
    this.#deps = { frontier, stats, log };
  }

  /** Write the changes since the last call. When the store is away, these changes are lost; the node continues. */
  async write(): Promise<void> {
    await this.#writing;
    const changes = this.#deps.stats.takeOutside();
    if (changes.length === 0) return;
    this.#writing = this.#send(changes);
    await this.#writing;
    this.#writing = null;
  }

  /** All stats of the crawl; none where no code of this node has asked for them, or they cannot be read. */
  async readAll(): Promise<Snapshot['custom']> {
    const { frontier, stats, log } = this.#deps;
    if (!stats.isEnabled) return {};
    try {
      return (await frontier.snapshot()).custom;
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the stats of the crawl could not be read');
      return {};
    }
  }

  async #send(changes: readonly StatChange[]): Promise<void> {
    const { frontier, log } = this.#deps;
    try {
      await frontier.addStats(changes);
    } catch (error) {
      log.warn(
        { stats: changes.length, error: messageOf(error) },
        'stats outside of pages could not be written',
      );
    }
  }
}
