/** Collections of any size, and all keys, read by their cursors: a page at a time, each a short command. */
import { type Client, serversOf } from './client.js';

const KEYS_PER_STEP = 1_000;

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

/** Keys by pattern, never by KEYS, which stops the server for all: each matching key at least once, a step of the walk at a time, which may be without any; a key that lives all through is never missed. */
export async function* scanKeys(client: Client, pattern: string): AsyncGenerator<string[]> {
  for (const server of serversOf(client)) {
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_STEP);
      cursor = next;
      yield keys;
    } while (cursor !== '0');
  }
}

/** A name in a pattern, where it stands for itself. */
export function literally(name: string): string {
  return name.replace(/[\\*?[\]^-]/g, '\\$&');
}
