/** The client of ioredis that all commands are sent by. */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Reply } from './reply.js';

export type Client = Redis | Cluster;

/** The server, or each master of a Cluster. */
export function serversOf(client: Client): Redis[] {
  return 'nodes' in client ? client.nodes('master') : [client];
}

/** Call a function, or add the call to a pipeline. The types of ioredis lack this command. */
export function callFunction(
  target: Client | ChainableCommander,
  name: string,
  keys: readonly string[],
  packed: Buffer,
): Promise<Reply> {
  const functions = target as unknown as { fcallBuffer(...args: unknown[]): Promise<Reply> };
  return functions.fcallBuffer(name, keys.length, ...keys, packed);
}

/**
 * The results of a MULTI, in order.
 * @throws what the first command that was refused says: EXECABORT, the error of them all, does not tell whether a later
 * try is worth it.
 */
export async function resultsOf(transaction: ChainableCommander): Promise<[Error | null, unknown][]> {
  const results = await transaction.exec().catch((error: Error & { previousErrors?: Error[] }) => {
    throw error.previousErrors?.[0] ?? error;
  });
  return results ?? [];
}
