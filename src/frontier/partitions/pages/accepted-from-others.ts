/**
 * Notices a partition whose server lost its last writes, as in a crash, while the others kept theirs: it has accepted fewer
 * requests for pages of other partitions than this node knows of. Those pages are done, so nobody pushes these requests again.
 */
import type { PartState } from '../../redis/partitions/part-state.js';

/** What a partition has accepted for pages of others, in one crawl. */
export type Accepted = Pick<PartState, 'crawlId' | 'fromOthers'>;

export class AcceptedFromOthers {
  readonly #known: (Accepted | undefined)[] = [];

  /** @returns what it should have, when it has less. An answer that was overtaken has less too: the partition decides. */
  hear(partition: number, { crawlId, fromOthers }: Accepted): Accepted | null {
    const known = this.#known[partition];
    if (known?.crawlId === crawlId && known.fromOthers > fromOthers) return known;
    this.#known[partition] = { crawlId, fromOthers };
    return null;
  }
}
