/** Collections of any size, read by their cursors: a page at a time, each a short command. */
import type { Client } from './connection.js';

/** Puts a question to the server, again where it was away. */
export type Ask = <T>(question: (client: Client) => Promise<T>) => Promise<T>;

/** The pages of an HSCAN, SSCAN or ZSCAN. What the collection holds all through is met, perhaps twice. */
export async function* walk<T extends string | Buffer>(
  ask: Ask,
  page: (client: Client, cursor: string) => Promise<[cursor: string | Buffer, page: T[]]>,
): AsyncGenerator<T[]> {
  let cursor = '0';
  do {
    const [next, found] = await ask((client) => page(client, cursor));
    cursor = next.toString();
    yield found;
  } while (cursor !== '0');
}

/** A page of names and values, one after the other. */
export function pairs<T>(flat: readonly T[]): [T, T][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] as T, flat[2 * n + 1] as T]);
}
