/** Notices servers of REDIS_PARTITION_URLS that are named in another order than when the crawl was begun. */
import { RefusedError } from '../../../errors.js';
import type { FrontierKeys } from '../../open-options.js';
import type { RedisConnection } from '../../redis/connection/connection.js';
import { internalKey } from '../../redis/keys.js';
import { serverOf } from '../../redis/partitions/partition-access.js';
import type { RedisFrontier } from '../../redis/redis-frontier.js';

/** @throws RefusedError where a partition has no record on its own server, but one on another server of the crawl. */
export async function refuseMisplaced(parts: readonly RedisFrontier[]): Promise<void> {
  const servers = new Map(parts.map(({ partition }) => [partition.crawl.connection, serverOf(partition)]));
  if (servers.size === 1) return;
  await Promise.all(
    parts.map(async ({ partition }, index) => {
      const { connection, options } = partition.crawl;
      if (await hasRecord(connection, options.keys, index)) return;
      for (const [server, there] of servers) {
        if (server === connection || !(await hasRecord(server, options.keys, index))) continue;
        throw new RefusedError(
          `partition ${index} of ${parts.length} is on ${there}, and the settings have it on ${servers.get(connection)}: name the servers of REDIS_PARTITION_URLS in the order in which the crawl was begun, or reset the crawl in that order first`,
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
