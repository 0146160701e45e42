/**
 * Notices a partition that lost its data while the others kept theirs, such as after a flush of its server. Its requests
 * and fingerprints are gone, so a crawl that went on would silently lack pages.
 *
 * Nodes process pages only after they have joined all partitions. So where a page was processed, every partition has a
 * record. A reset and the clearing of a complete crawl delete the record of partition 0 first.
 */
import { RefusedError } from '../../../errors.js';
import type { Finding } from '../../frontier.js';
import { metaFields, type PartitionAccess, serverOf } from '../../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';

/** What tells whether a partition belongs to the crawl of partition 0, and has worked for it. */
interface PartitionRecord {
  readonly crawl: string;
  /** The crawl of partition 0; null in partition 0 itself. */
  readonly of: string | null;
  /** Pages done, or begun in this run. */
  readonly pages: number;
}

/** @throws RefusedError naming a partition that has no data although the crawl has processed pages. */
export async function refuseLost(parts: readonly RedisFrontier[]): Promise<void> {
  const lost = await lostPartition(parts);
  if (lost !== null)
    throw new RefusedError(`${messageFor(lost, parts)}: ${ACTION}`, { code: 'partition_lost' });
}

/** The finding of `doctor`. */
export async function lostFinding(parts: readonly RedisFrontier[]): Promise<Finding | null> {
  const lost = await lostPartition(parts);
  if (lost === null) return null;
  return {
    ...{ level: 'problem', check: 'partitions', about: 'crawl' },
    ...{ message: messageFor(lost, parts), action: ACTION },
  };
}

const ACTION =
  'bring back the data of that server and start the nodes again, or begin anew with "crawlnode reset SPIDER"; to keep what the other partitions have, "crawlnode reset SPIDER --all --backup FILE" and "crawlnode restore SPIDER FILE"';

function messageFor(index: number, parts: readonly RedisFrontier[]): string {
  const server = serverOf(parts[index]!.partition);
  return `partition ${index} of ${parts.length} (${server}) has no data, although this crawl has processed pages: its server was flushed, lost its data, or is another one than before`;
}

/** The first partition that lost its data; null for none. */
async function lostPartition(parts: readonly RedisFrontier[]): Promise<number | null> {
  const records = await Promise.all(parts.map(({ partition }) => readRecord(partition)));
  const missing = records.indexOf(null);
  if (missing < 1 || !hasProcessed(records)) return null;
  // Nobody is clearing the crawl right now: then partition 0 has no record any more, or that of another crawl.
  const again = await readRecord(parts[missing]!.partition);
  const first = await readRecord(parts[0]!.partition);
  return again === null && first !== null && first.crawl === records[0]?.crawl ? missing : null;
}

/** Whether a node has processed a page in the crawl that partition 0 has now. */
function hasProcessed([first, ...others]: readonly (PartitionRecord | null)[]): boolean {
  if (first == null) return false;
  return [first, ...others.filter((record) => record?.of === first.crawl)].some(
    (record) => record !== null && record.pages > 0,
  );
}

/** Null where nothing is stored. */
async function readRecord(partition: PartitionAccess): Promise<PartitionRecord | null> {
  const [crawl, of = null, done, begun] = await metaFields(partition, 'crawl', 'of', 'done', 'run_pages');
  return crawl == null ? null : { crawl, of, pages: Number(done ?? 0) + Number(begun ?? 0) };
}
