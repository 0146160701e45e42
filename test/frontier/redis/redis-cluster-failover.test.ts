/** A Redis Cluster whose master is replaced by a replica that lacks the last commits, or whose slot moves. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Frontier } from '../../../src/frontier/frontier.js';
import type { RedisAddress } from '../../../src/frontier/open-options.js';
import { openRedisFrontier } from '../../../src/frontier/redis/redis-frontier.js';
import {
  Crawl,
  commit,
  done,
  nameOf,
  request,
  takeOne,
  until,
  worldOf,
} from '../../frontier-contract/world.js';
import { defaultShape, openOptions } from '../../helpers/open-options.js';
import { moveSlot } from '../../helpers/redis/redis-cluster.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';

/** Two masters: the first holds all slots but one. The last server replicates the first. */
let servers: RedisServer[];
let [first, second, replica]: Redis[] = [];
let crawl: Crawl;
let frontier: Frontier;

beforeEach(async () => {
  servers = [];
  for (let n = 0; n < 3; n++) {
    const args = ['--cluster-enabled', 'yes', '--masteruser', 'replica', '--masterauth', 'secret'];
    servers.push(await startRedis({ args, persist: true }));
  }
  const admins = servers.map(({ url }) => new Redis(url));
  [first, second, replica] = admins;
  for (const admin of admins)
    await admin.call('ACL', 'SETUSER', 'replica', 'on', '>secret', '~*', '&*', '+@all');
  await first!.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16382');
  await second!.call('CLUSTER', 'ADDSLOTSRANGE', '16383', '16383');
  await second!.call('CLUSTER', 'SET-CONFIG-EPOCH', '2');
  for (const { host, port } of servers.slice(1)) await first!.call('CLUSTER', 'MEET', host, String(port));
  const id = String(await first!.call('CLUSTER', 'MYID'));
  await says(replica!, ['CLUSTER', 'NODES'], id);
  await replica!.call('CLUSTER', 'REPLICATE', id);
  for (const admin of admins) await says(admin, ['CLUSTER', 'INFO'], 'cluster_slots_ok:16384');
  await says(replica!, ['INFO', 'replication'], 'master_link_status:up');
  const address: RedisAddress = {
    kind: 'cluster',
    nodes: servers.map(({ host, port }) => ({ host, port })),
    options: {},
  };
  const open = () =>
    openRedisFrontier(openOptions({ engine: 'redis', address }, '{news}', { shape: defaultShape }), address);
  crawl = new Crawl(worldOf(open));
  ({ frontier } = await crawl.node());
}, 60_000);

afterEach(async () => {
  for (const admin of [first, second, replica]) admin!.disconnect();
  await crawl.end().catch(() => undefined);
  for (const server of servers) await server.stop();
});

/** Wait until a command answers with these words. */
async function says(admin: Redis, [command = '', ...args]: string[], words: string): Promise<void> {
  const ask = async () => String(await admin.call(command, ...args).catch(String));
  expect(await until(ask, (answer) => answer.includes(words), 30_000)).toContain(words);
}

/** How many requests a node gets, or why it gets none. */
const leaseOrReason = () =>
  frontier.lease(1, 0).then(
    ({ leases }) => leases.length,
    (error) => (error as { code: string }).code,
  );
const expectReplaced = async () => {
  expect(await until(leaseOrReason, (answer) => answer === 'store_replaced', 15_000)).toBe('store_replaced');
};

it('a node drops what it knew when a replica that lacks the last commits takes over', {
  timeout: 60_000,
}, async () => {
  await frontier.push([request('page')], 'links');
  const lease = await takeOne(frontier);
  const offset = /master_repl_offset:\d+/.exec(String(await first!.info('replication')))![0];
  await says(replica!, ['INFO', 'replication'], offset);
  // From here on the replica gets nothing more.
  await first!.call('ACL', 'SETUSER', 'replica', 'off');
  await first!.call('CLIENT', 'KILL', 'TYPE', 'replica');
  await says(replica!, ['INFO', 'replication'], 'master_link_status:down');
  await commit(frontier, lease, done, { requests: [request('link')] });
  await replica!.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
  await expectReplaced();

  await crawl.join(frontier);
  await commit(frontier, await takeOne(frontier), done, { requests: [request('link')] });
  expect(nameOf(await takeOne(frontier))).toBe('link');
});

it('a node goes on when its slot moves to another master', { timeout: 60_000 }, async () => {
  await frontier.push([request('page'), request('link')], 'links');
  await commit(frontier, await takeOne(frontier), done);
  const slot = Number(await first!.call('CLUSTER', 'KEYSLOT', '{news}:requests'));
  expect(await moveSlot([first!, second!], slot, 1)).toBeGreaterThan(5);
  await commit(frontier, await takeOne(frontier), done);
  expect(await second!.exists('{news}:requests:~meta')).toBe(1);
});

it('a node drops what it knew when its master was started again', { timeout: 60_000 }, async () => {
  await servers[0]!.restart();
  await expectReplaced();
  await crawl.join(frontier);
  await frontier.push([request('page')], 'links');
  await commit(frontier, await takeOne(frontier), done);
});
