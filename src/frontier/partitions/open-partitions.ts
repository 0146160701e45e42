/** Opens the partitions of a crawl, with one connection to each server or Cluster. */
import type { Frontier } from '../frontier.js';
import type { OpenOptions, PartitionPlace } from '../open-options.js';
import { RedisConnection } from '../redis/connection/connection.js';
import { placeOf } from '../redis/connection/errors.js';
import { frontierOn, type RedisFrontier } from '../redis/redis-frontier.js';
import { refuseMisplaced } from './checks/misplaced-partitions.js';
import { partitionedFrontier } from './partitioned-frontier.js';

/** @throws as `openFrontier`, and RefusedError where the crawl has another number of partitions. */
export async function openPartitions(
  options: OpenOptions,
  places: readonly PartitionPlace[],
): Promise<Frontier> {
  const connections = new Map<string, RedisConnection>();
  const hasSeveral = new Set(places.map(({ address }) => JSON.stringify(address))).size > 1;
  const disconnect = () => {
    for (const connection of connections.values()) connection.close();
  };
  try {
    const parts: RedisFrontier[] = [];
    for (const [index, { address, keys }] of places.entries()) {
      const name = JSON.stringify(address);
      const connection =
        connections.get(name) ??
        (await RedisConnection.open(
          address,
          options.connectTimeoutMs,
          options.waitReplicas,
          hasSeveral ? `Redis at ${placeOf(address)}` : undefined,
        ));
      connections.set(name, connection);
      // Each partition listens to it.
      connection.client.setMaxListeners(0);
      const own: OpenOptions = {
        ...options,
        store: { engine: 'redis', address },
        // A reset leaves out keys that other spiders may share.
        keys: index === 0 ? options.keys : keys,
        partition: `${index}/${places.length}`,
      };
      parts.push(await frontierOn(connection, own));
    }
    await refuseMisplaced(parts);
    return partitionedFrontier(parts, disconnect);
  } catch (error) {
    disconnect();
    throw error;
  }
}
