/** Several questions, answered at one instant. */
import type { ChainableCommander } from 'ioredis';

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
