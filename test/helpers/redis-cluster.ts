/** A Redis Cluster of three masters, for tests. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { until } from '../frontier-contract/world.js';
import { type RedisServer, startRedis } from './redis-server.js';

const run = promisify(execFile);

export async function startCluster(): Promise<RedisServer[]> {
  const servers: RedisServer[] = [];
  for (let i = 0; i < 3; i++) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }));
  const addresses = servers.map(({ host, port }) => `${host}:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  for (const { url } of servers) {
    await asking(url, (admin) =>
      until(
        () => admin.cluster('INFO') as Promise<string>,
        (info) => /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info),
        20_000,
      ),
    );
  }
  return servers;
}

/** Put a question to one server. */
export async function asking<T>(url: string, question: (admin: Redis) => Promise<T>): Promise<T> {
  const admin = new Redis(url);
  try {
    return await question(admin);
  } finally {
    admin.disconnect();
  }
}
