/** Notices servers of REDIS_PARTITION_URLS that are named in another order than when the crawl was begun. */
import { RefusedError } from '../../../errors.js';
import type { FrontierKeys } from '../../open-options.js';
import type { RedisConnection } from '../../redis/connection/connection.js';
import { internalKey } from '../../redis/keys.js';

/** A partition where the settings have it. */
export interface PlacedPartition {
  readonly connection: RedisConnection;
  /** The server, for messages. */
  readonly place: string;
  readonly keys: FrontierKeys;
}

/** @throws RefusedError where a partition has no record on its own server, but one on another server of the crawl. */
export async function refuseMisplaced(partitions: readonly PlacedPartition[]): Promise<void> {
  const servers = new Map(partitions.map(({ connection, place }) => [connection, place]));
  if (servers.size === 1) return;
  await Promise.all(
    partitions.map(async ({ connection, place, keys }, index) => {
      if (await hasRecord(connection, keys, index)) return;
      for (const [server, there] of servers) {
        if (server === connection || !(await hasRecord(server, keys, index))) continue;
        throw new RefusedError(
          `partition ${index} of ${partitions.length} is on ${there}, and the settings have it on ${place}: name the servers of REDIS_PARTITION_URLS in the order in which the crawl was begun, or reset the crawl in that order first`,
          { code: 'shape' },
        );
      }
    }),
  );
}

/** Whether a server has the record of this partition, and not of a crawl of one partition with the same name. */
async function hasRecord(server: RedisConnection, keys: FrontierKeys, index: number): Promise<boolean> {
  const meta = internalKey(keys, 'meta');
  return server.patiently(async (client) => {
    if ((await client.type(meta)) !== 'hash') return false;
    return (await client.hget(meta, 'partition'))?.split('/')[0] === String(index);
  });
}
