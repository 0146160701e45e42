/** The client of ioredis that all commands are sent by. */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';

export type Client = Redis | Cluster;

/** What is needed of the module, which is loaded when it is first used. */
export type Ioredis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

/** The server, or each master of a Cluster. */
export function serversOf(client: Client): Redis[] {
  return 'nodes' in client ? client.nodes('master') : [client];
}

/**
 * The replies of a MULTI, in order.
 * @throws what the first command that was refused says: EXECABORT, the error of them all, does not tell whether a later
 * try is worth it.
 */
export async function repliesOf(transaction: ChainableCommander): Promise<unknown[]> {
  const replies = await transaction.exec().catch((error: Error & { previousErrors?: Error[] }) => {
    throw error.previousErrors?.[0] ?? error;
  });
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
