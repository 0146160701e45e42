/** The crawls in a Redis, by the keys that each has. */
import type { RedisAddress } from '../../open-options.js';
import { RedisConnection } from '../connection/connection.js';
import { literally, scanKeys } from '../connection/scan.js';

const META = ':~meta';

/** Pages of the walk at most: a million keys and more, some seconds. */
const MAX_PAGES = 1_000;

/**
 * @param nameParts what the names of requests keys have in common: their text before and after the spider's name.
 * @returns the names, sorted, and whether the store holds so many keys that the walk was cut off.
 */
export async function findInRedis(
  address: RedisAddress,
  connectTimeoutMs: number,
  [before, after]: readonly [string, string],
): Promise<{ names: string[]; isCut: boolean }> {
  const connection = await RedisConnection.open(address, connectTimeoutMs);
  try {
    return await connection.patiently(async (client) => {
      const names = new Set<string>();
      let pages = 0;
      for await (const keys of scanKeys(client, `${literally(before)}*${literally(after)}*${META}`)) {
        for (const key of keys) names.add(key.slice(0, -META.length));
        pages += 1;
        if (pages >= MAX_PAGES) return { names: [...names].sort(), isCut: true };
      }
      return { names: [...names].sort(), isCut: false };
    });
  } finally {
    connection.close();
  }
}
