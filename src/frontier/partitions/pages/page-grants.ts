/**
 * The page budget of a run over partitions: blocks of it are granted by partition 0 (`lua/partitions/grant-pages.lua`). So
 * `--max-pages` is exact, though a lease asks its own partition only.
 */
import type { RedisFrontier } from '../../redis/redis-frontier.js';

export class PageGrants {
  readonly #parts: readonly RedisFrontier[];
  /** What each partition is known to have given back. */
  readonly #returned: number[];

  constructor(parts: readonly RedisFrontier[]) {
    this.#parts = parts;
    this.#returned = parts.map(() => 0);
  }

  /**
   * Grant more pages to a partition that has none left; the others give back what they do not use.
   * @returns whether it may lease again.
   */
  async request(run: string, to: number, wanted: number): Promise<boolean> {
    if (await this.#grant(run, to, wanted)) return true;
    const others = [...this.#parts.keys()].filter((index) => index !== to);
    await Promise.all(
      others.map(async (index) => {
        this.#returned[index] = await this.#parts[index]!.partition.takePages(run, { givesBack: true });
      }),
    );
    return others.length > 0 && this.#grant(run, to, wanted);
  }

  /** A new run counts from 0. */
  reset(): void {
    this.#returned.fill(0);
  }

  async #grant(run: string, to: number, wanted: number): Promise<boolean> {
    const { partition } = this.#parts[to]!;
    const { granted, block } = await this.#parts[0]!.partition.grantPages(run, to, wanted, this.#returned);
    if (granted === 0) return false;
    // Also without a new block: a node that died may have been granted one, and not have told the partition.
    await partition.takePages(run, { granted });
    return block > 0;
  }
}
