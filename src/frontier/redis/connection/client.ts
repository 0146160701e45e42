/** The client of ioredis that all commands are sent by. */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';

export type Client = Redis | Cluster;

/** What is needed of the module, which is loaded when it is first used. */
export type Ioredis = Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>;

/** The server, or each master of a Cluster. */
export function serversOf(client: Client): Redis[] {
  return 'nodes' in client ? client.nodes('master') : [client];
}

/** A command of ioredis that the types of its pipelines lack. */
export interface FunctionPipeline {
  fcallBuffer(
    name: string,
    keyCount: number,
    ...keysAndArguments: readonly (string | Buffer)[]
  ): ChainableCommander;
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

/**
 * The replies of a MULTI, in order.
 * @throws what the first command that was refused or that failed says
 */
export async function repliesOf(transaction: ChainableCommander): Promise<unknown[]> {
  return (await resultsOf(transaction)).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
