/** How a partition is named in the store. */
import type { PartitionNumber } from '../../open-options.js';

/** `index/count`; undefined in a crawl of one partition. */
export function partitionText(partition: PartitionNumber | undefined): string | undefined {
  return partition === undefined ? undefined : `${partition.index}/${partition.count}`;
}
