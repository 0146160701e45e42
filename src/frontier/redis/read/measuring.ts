/** How much keys hold, and at what size. */
import type { Client } from '../connection/client.js';

/** How much a key holds, whatever its type. */
export async function lengthOf(client: Client, key: string): Promise<number> {
  const type = await client.type(key);
  if (type === 'list') return client.llen(key);
  if (type === 'set') return client.scard(key);
  if (type === 'hash') return client.hlen(key);
  return type === 'zset' ? client.zcard(key) : 0;
}

export async function bytesOf(client: Client, key: string): Promise<number> {
  try {
    return (await client.memory('USAGE', key)) ?? 0;
  } catch {
    // An ACL without MEMORY: the size stays unknown, and the rest of the answer is worth having.
    return 0;
  }
}

export async function sum<T>(values: readonly T[], measure: (value: T) => Promise<number>): Promise<number> {
  const numbers = await Promise.all(values.map(measure));
  return numbers.reduce((total, value) => total + value, 0);
}
