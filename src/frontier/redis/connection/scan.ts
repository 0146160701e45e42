/** Reads large collections, and all keys, by cursors: one page at a time, with short commands. */
import { type Client, serversOf } from './client.js';

const KEYS_PER_STEP = 1_000;

/** Runs a command, and repeats it while the server is away. */
export type Ask = <T>(question: (client: Client) => Promise<T>) => Promise<T>;

/** The pages of an HSCAN, SSCAN or ZSCAN. An element that is present all the time is returned at least once. */
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

/**
 * The keys that match a pattern, in pages, which may be empty. A key that exists all the time is returned at least once.
 * KEYS is not used, since it blocks the server.
 */
export async function* scanKeys(client: Client, pattern: string): AsyncGenerator<string[]> {
  for (const server of serversOf(client)) {
    yield* server.scanStream({ match: pattern, count: KEYS_PER_STEP });
  }
}

/** Escapes a name for use in a pattern. */
export function literally(name: string): string {
  return name.replace(/[\\*?[\]^-]/g, '\\$&');
}
