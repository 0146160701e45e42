/** What a server of a Cluster says of it, when no client can be made: why the Cluster does not serve. */
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../open-options.js';

const TIMEOUT_MS = 1_000;

/** The state as the first server that answers has it; null when none does. */
export async function clusterState({
  nodes,
  options,
}: Extract<RedisAddress, { readonly kind: 'cluster' }>): Promise<string | null> {
  for (const { host, port } of nodes) {
    const server = new Redis({
      ...options,
      ...{ host, port, lazyConnect: true, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS },
      ...{ retryStrategy: () => null, maxRetriesPerRequest: 0 },
    });
    server.on('error', () => {});
    try {
      await server.connect();
      const info = String(await server.cluster('INFO'));
      const slots = await server.cluster('SLOTS');
      return describe(`${host}:${port}`, info, slots);
    } catch {
      // The next one may answer.
    } finally {
      server.disconnect();
    }
  }
  return null;
}

function describe(who: string, info: string, slots: readonly (readonly unknown[])[]): string {
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? 'unknown';
  const said = `${who} says cluster_state:${field('cluster_state')}, ${field('cluster_slots_ok')} of 16384 slots are served`;
  const isNameless = slots.some(([, , master]) => Array.isArray(master) && !master[0]);
  if (field('cluster_state') === 'ok' && isNameless) {
    return `${said}, but CLUSTER SLOTS has an empty host: set cluster-announce-ip on the servers, or let them meet (CLUSTER MEET)`;
  }
  return `${said}: see to its masters ("redis-cli --cluster check ${who}")`;
}
