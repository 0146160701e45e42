/** A Cluster of three real masters, and slots that move in it key by key. */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../../src/frontier/open-options.js';
import { until } from '../../frontier-contract/world.js';
import { type RedisServer, startRedis } from './redis-server.js';

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  readonly address: RedisAddress & { readonly kind: 'cluster' };
  stop(): Promise<void>;
}

/** Resolves when all slots are served. */
export async function startCluster(): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  for (let i = 0; i < 3; i++) servers.push(await startRedis({ args: ['--cluster-enabled', 'yes'] }));
  const addresses = servers.map(({ host, port }) => `${host}:${port}`);
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  for (const { url } of servers) await untilClusterIsUp(url);
  const nodes = servers.map(({ host, port }) => ({ host, port }));
  return {
    servers,
    address: { kind: 'cluster', nodes, options: {} },
    stop: async () => {
      for (const server of servers) await server.stop();
    },
  };
}

async function untilClusterIsUp(url: string): Promise<void> {
  const admin = new Redis(url);
  const isUp = (info: string) => /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info);
  await until(() => admin.cluster('INFO') as Promise<string>, isUp, 20_000);
  admin.disconnect();
}

/** The master that serves a slot, and another one. */
export async function holderOf(admins: readonly Redis[], slot: number): Promise<[from: Redis, to: Redis]> {
  for (const [n, admin] of admins.entries()) {
    const lines = (await admin.call('CLUSTER', 'NODES')) as string;
    const [, ...slots] = /myself\S*(?: \S+){5}(.*)$/m.exec(lines)?.[1]?.split(' ') ?? [];
    const isHolder = slots.some((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return first !== undefined && last !== undefined && first <= slot && slot <= last;
    });
    if (isHolder) return [admin, admins[(n + 1) % admins.length] as Redis];
  }
  throw new Error(`no master holds slot ${slot}`);
}

/** A call of a verb is repeated for 3 s, and is refused while its keys are at two servers. */
const MOST_MOVING_MS = 1_000;

/**
 * Move a slot as `redis-cli --cluster reshard` does, but one key at a time, with a pause after each. Where a busy machine makes
 * this slow, the rest moves at once.
 * @returns how many keys have moved.
 */
export async function moveSlot(
  admins: readonly Redis[],
  slot: number,
  pauseMs: number,
  { onMigrating = () => {}, onMoved = () => {} } = {},
): Promise<number> {
  const [from, to] = await holderOf(admins, slot);
  const [fromId, toId] = await Promise.all([from, to].map((admin) => admin.call('CLUSTER', 'MYID')));
  const { host, port } = to.options;
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  onMigrating();
  const beganAtMs = performance.now();
  let moved = 0;
  for (;;) {
    const isSlow = performance.now() - beganAtMs > MOST_MOVING_MS;
    const most = isSlow ? 10_000 : 1;
    const keys = (await from.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, most)) as Buffer[];
    if (keys.length === 0) break;
    await from.call('MIGRATE', String(host), String(port), '', '0', '5000', 'KEYS', ...keys);
    moved += keys.length;
    if (!isSlow) await sleep(pauseMs);
  }
  onMoved();
  for (const admin of [to, from, ...admins])
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
  return moved;
}
