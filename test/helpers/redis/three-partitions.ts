/** A fresh crawl over three partitions for each test of a file, and requests for each of them. */
import type { Redis } from 'ioredis';
import { afterEach, beforeEach } from 'vitest';
import type { Frontier, FrontierRequest } from '../../../src/frontier/frontier.js';
import { Crawl, request, type World } from '../../frontier-contract/world.js';
import { domainIn, partitionedWorld } from './partitioned-world.js';
import { redisOfFile } from './redis-of-file.js';
import type { RedisServer } from './redis-server.js';

export const COUNT = 3;

/** A domain of each partition. */
export const domains = Array.from({ length: COUNT }, (_, partition) => domainIn(partition, COUNT));

/** A request in a partition. */
export const at = (partition: number, name: string): FrontierRequest =>
  request(name, { domain: domains[partition]! });

/** One in each: `name-0`, `name-1`, `name-2`. */
export const inAll = (name: string): FrontierRequest[] =>
  domains.map((_, partition) => at(partition, `${name}-${partition}`));

export const perPartition = async (
  frontier: Frontier,
  field: 'pending' | 'done' | 'items',
): Promise<number[]> => (await frontier.snapshot()).partitions!.map((partition) => partition[field]);

export interface Stage {
  readonly server: RedisServer;
  /** What a hand at redis-cli does. */
  readonly admin: Redis;
  world: World & { readonly spider: string };
  crawl: Crawl;
}

/** Called once at the head of a file. All partitions are on its one server. */
export async function threePartitions(): Promise<Stage> {
  const { server, admin } = await redisOfFile();
  const fresh = () => {
    const world = partitionedWorld(server.url, COUNT);
    return { world, crawl: new Crawl(world) };
  };
  const stage: Stage = { server, admin, ...fresh() };
  beforeEach(() => Object.assign(stage, fresh()));
  afterEach(() => stage.crawl.end());
  return stage;
}
