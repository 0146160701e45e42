/** Moving a slot of a Redis Cluster, one key at a time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/**
 * Move a slot as `redis-cli --cluster reshard` does, but one key at a time, with a pause after each.
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
  let moved = 0;
  for (;;) {
    const [key] = (await from.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as Buffer[];
    if (key === undefined) break;
    await from.call('MIGRATE', String(host), String(port), key, '0', '5000');
    moved += 1;
    await sleep(pauseMs);
  }
  onMoved();
  for (const admin of [to, from, ...admins])
    await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
  return moved;
}

/** The master that serves a slot, and another one. */
async function holderOf(admins: readonly Redis[], slot: number): Promise<[from: Redis, to: Redis]> {
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
