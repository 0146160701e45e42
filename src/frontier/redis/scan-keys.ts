/** Keys by pattern, in bounded steps over each server: never KEYS, which stops the server for all. */
import type { Cluster, Redis } from 'ioredis';

const STEP = 1_000;

/** Each matching key at least once, a step of the walk at a time, which may be without any; a key that lives all through is never missed. */
export async function* scanKeys(client: Redis | Cluster, pattern: string): AsyncGenerator<string[]> {
  const servers = 'nodes' in client ? client.nodes('master') : [client];
  for (const server of servers) {
    let cursor = '0';
    do {
      const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', STEP);
      cursor = next;
      yield keys;
    } while (cursor !== '0');
  }
}

/** A name in a pattern, where it stands for itself. */
export function literally(name: string): string {
  return name.replace(/[\\*?[\]^-]/g, '\\$&');
}
