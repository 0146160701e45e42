/** The failed lists of all partitions, one after the other. */
import type { FailedList, FailedRequest, FrontierRequest } from '../frontier.js';
import { byPartition } from './partition-of.js';

export class PartitionedFailed implements FailedList {
  readonly #lists: readonly FailedList[];

  constructor(lists: readonly FailedList[]) {
    this.#lists = lists;
  }

  /** A cursor is `partition:cursor there`. */
  async list(
    cursor: string | null,
    max: number,
  ): Promise<{ requests: readonly FailedRequest[]; cursor: string | null }> {
    const at = (cursor ?? '0:').indexOf(':');
    const partition = Number((cursor ?? '0:').slice(0, at));
    const inside = (cursor ?? '0:').slice(at + 1) || null;
    const page = await this.#lists[partition]!.list(inside, max);
    if (page.cursor !== null) return { ...page, cursor: `${partition}:${page.cursor}` };
    const next = await this.#nextWithRequests(partition + 1);
    if (next === null) return { ...page, cursor: null };
    return page.requests.length === 0 ? this.list(`${next}:`, max) : { ...page, cursor: `${next}:` };
  }

  /** The next partition that has failed requests. */
  async #nextWithRequests(from: number): Promise<number | null> {
    for (let partition = from; partition < this.#lists.length; partition++) {
      const { requests } = await this.#lists[partition]!.list(null, 1);
      if (requests.length > 0) return partition;
    }
    return null;
  }

  /** Where a request is not in the partition of its domain, as after a restore, it is looked for in the others. */
  async retry(requests: readonly FrontierRequest[]): Promise<number> {
    const shares = byPartition(requests, ({ domain }) => domain, this.#lists.length);
    let retried = 0;
    for (const [partition, share] of shares.entries()) {
      if (share.length > 0) retried += await this.#lists[partition]!.retry(share);
    }
    for (const list of this.#lists) {
      if (retried < requests.length) retried += await list.retry(requests);
    }
    return retried;
  }

  async purge(ids: readonly string[]): Promise<number> {
    const purged = await Promise.all(this.#lists.map((list) => list.purge(ids)));
    return purged.reduce((sum, more) => sum + more, 0);
  }
}
