/** How much keys hold, and at what size; and the clock of the server. */
import type { Client } from '../connection/client.js';

/** How much a key holds, whatever its type. */
/** @param ofStream counts what matters of a stream */
export async function lengthOf(
  client: Client,
  key: string,
  ofStream: () => Promise<number> | number = () => 0,
): Promise<number> {
  const type = await client.type(key);
  if (type === 'list') return client.llen(key);
  if (type === 'set') return client.scard(key);
  if (type === 'hash') return client.hlen(key);
  if (type === 'stream') return ofStream();
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

export async function sum<T>(
  values: readonly T[],
  measure: (value: T, index: number) => Promise<number>,
): Promise<number> {
  const numbers = await Promise.all(values.map(measure));
  return numbers.reduce((total, value) => total + value, 0);
}

/** The server's clock, in ms since 1970. */
export async function clockOf(client: Client): Promise<number> {
  const [seconds, micros] = await client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/** Awaits values of an object, all at once. */
export async function byName<T extends Readonly<Record<string, Promise<unknown>>>>(
  promises: T,
): Promise<{ [Name in keyof T]: Awaited<T[Name]> }> {
  const values = await Promise.all(Object.values(promises));
  const entries = Object.keys(promises).map((name, n) => [name, values[n]]);
  return Object.fromEntries(entries) as { [Name in keyof T]: Awaited<T[Name]> };
}
