/** Fresh crawls over several partitions in the Redis of a URL. */
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Frontier } from '../../../src/frontier/frontier.js';
import type { OpenOptions, RedisAddress } from '../../../src/frontier/open-options.js';
import { partitionOf } from '../../../src/frontier/partitions/partition-of.js';
import { type World, worldOf } from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../open-options.js';

/** One client of a crawl whose partition n is at the nth address. */
export function openPartitioned(
  addresses: readonly RedisAddress[],
  spider: string,
  more: Partial<OpenOptions> = {},
): Promise<Frontier> {
  const [address] = addresses as [RedisAddress];
  const keysOf = (index: number) =>
    openOptions({ engine: 'redis', address }, index === 0 ? spider : `${spider}:p${index}`).keys;
  const partitions = addresses.map((each, index) => ({ address: each, keys: keysOf(index) }));
  return openFrontier(openOptions({ engine: 'redis', address }, spider, { partitions, ...more }));
}

export const addressOf = (url: string): RedisAddress => ({ kind: 'standalone', url, options: {} });

/** A domain of a partition. */
export function domainIn(partition: number, count: number): string {
  for (let n = 0; ; n++)
    if (partitionOf(`site-${n}.example`, count) === partition) return `site-${n}.example`;
}

let crawls = 0;

/** A crawl over `count` partitions that nobody has begun; its clients end with `dispose()`. */
export function partitionedWorld(url: string, count: number): World & { readonly spider: string } {
  crawls += 1;
  const spider = `partitioned${crawls}`;
  const addresses = Array.from({ length: count }, () => addressOf(url));
  return { ...worldAt(addresses, spider), spider };
}

/** The same whose partition n is at the nth address. */
export function worldAt(addresses: readonly RedisAddress[], spider: string): World {
  return worldOf((shape) => openPartitioned(addresses, spider, { shape: { ...defaultShape, ...shape } }));
}
