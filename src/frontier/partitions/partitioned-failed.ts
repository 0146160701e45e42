/** The failed lists of all partitions, one after the other. */
import type { FailedList } from '../frontier.js';
import { byPartition } from './partition-of.js';

export function partitionedFailed(lists: readonly FailedList[]): FailedList {
  return {
    /** A cursor is `partition:cursor there`. */
    async list(cursor, max) {
      const [, index = '0', inside] = /^(\d+):(.*)$/.exec(cursor ?? '') ?? [];
      const partition = Number(index);
      const page = await lists[partition]!.list(inside || null, max);
      if (page.cursor !== null) return { ...page, cursor: `${partition}:${page.cursor}` };
      for (const next of lists.keys()) {
        const hasMore = next > partition && (await lists[next]!.list(null, 1)).requests.length > 0;
        if (hasMore)
          return page.requests.length === 0 ? this.list(`${next}:`, max) : { ...page, cursor: `${next}:` };
      }
      return page;
    },

    /** Where a request is not in the partition of its domain, as after a restore, it is looked for in the others. */
    async retry(requests) {
      const shares = byPartition(requests, lists.length);
      let retried = 0;
      for (const [partition, share] of shares.entries()) {
        if (share.length > 0) retried += await lists[partition]!.retry(share);
      }
      for (const list of lists) {
        if (retried < requests.length) retried += await list.retry(requests);
      }
      return retried;
    },

    async purge(ids) {
      const purged = await Promise.all(lists.map((list) => list.purge(ids)));
      return purged.reduce((sum, more) => sum + more, 0);
    },
  };
}
