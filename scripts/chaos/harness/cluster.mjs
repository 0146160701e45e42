/** A Redis Cluster of three masters, each with a replica, on a network that can be split. */

import { startNetwork } from './network.mjs';
import { freePort } from './ports.mjs';
import { everysec, startStore } from './redis.mjs';
import { until } from './stage.mjs';

const MASTERS = 3;
const SLOTS = 16_384;
/** After this time without an answer a master is replaced by its replica. */
const NODE_TIMEOUT_MS = 2_000;

/** @returns what the settings of a crawl need, the servers, and who holds the slot of a key. */
export async function startCluster() {
  const network = startNetwork();
  const servers = await Promise.all(Array.from({ length: 2 * MASTERS }, () => startMember(network)));
  const masters = servers.slice(0, MASTERS);
  for (const [n, { db }] of masters.entries()) {
    const [from, to] = [n, n + 1].map((part) => Math.floor((part * SLOTS) / MASTERS));
    await db.call('CLUSTER', 'ADDSLOTSRANGE', from, to - 1);
    await db.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1);
  }
  const [{ db }] = servers;
  for (const { outer, port, busPort } of servers.slice(1))
    await db.call('CLUSTER', 'MEET', outer, port, busPort);
  for (const server of servers)
    await until(async () => (await membersOf(server)).length === servers.length, 'all to meet');
  for (const [n, replica] of servers.slice(MASTERS).entries())
    await replica.db.call('CLUSTER', 'REPLICATE', await masters[n].id());
  for (const server of servers) await untilUp(server);
  for (const master of masters) await untilReplicated(master);
  const byId = new Map();
  for (const server of servers) byId.set(await server.id(), server);
  const slot = await db.call('CLUSTER', 'KEYSLOT', '{walk}:requests');

  /** The master of the crawl's slot in the eyes of these servers, all but its own unless told; undefined while they disagree. */
  const master = async (witnesses = servers) => {
    const named = await Promise.all(witnesses.map((server) => holderOf(server, slot).catch(() => undefined)));
    return new Set(named).size === 1 ? byId.get(named[0]) : undefined;
  };
  return {
    ...{ network, servers, slot },
    settings: { REDIS_CLUSTER_NODES: servers.map(({ outer, port }) => `${outer}:${port}`) },
    /** The server that all call master of the crawl's slot. */
    master: () => until(() => master(), 'one master of the slot', 60_000),
    /** Resolves with the next master of the slot, once all but the old one know it and it takes writes. */
    async untilOther(old) {
      const others = servers.filter((server) => server !== old);
      return until(
        async () => {
          const now = await master(others);
          if (now === undefined || now === old || !(await isUp(now))) return null;
          return now;
        },
        'another master of the slot',
        60_000,
      );
    },
    /** Resolves when the server follows the master, with all its data. */
    async untilFollows(server) {
      const follows = async () => {
        const info = await server.db.info('replication');
        return /^role:slave/m.test(info) && /^master_link_status:up/m.test(info);
      };
      await until(async () => follows().catch(() => false), 'a replica', 60_000);
    },
    /** Resolves when each master has its replica again. */
    untilHealed: () => until(() => isHealed(servers), 'a replica of each master', 60_000),
    replicaOf: async (of) => {
      const id = await of.id();
      const ids = (await membersOf(of)).filter((member) => member[3] === id).map(([id]) => id);
      return byId.get(ids[0]);
    },
  };
}

async function isHealed(servers) {
  const infos = await Promise.all(servers.map(({ db }) => db.info('replication').catch(String)));
  const following = infos.filter((info) => /^master_link_status:up/m.test(info)).length;
  return following === servers.length - MASTERS;
}

async function startMember(network) {
  const host = network.newHost();
  const busPort = await freePort(host.inner);
  const server = await startStore(
    [
      ...everysec,
      ...['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-announce-ip', host.outer],
      ...['--cluster-node-timeout', String(NODE_TIMEOUT_MS), '--bind-source-addr', host.inner],
      // It takes any address of loopback but 127.0.0.1 for another machine.
      ...['--protected-mode', 'no'],
    ],
    { host: host.inner },
  );
  await network.expose(host, server.port);
  await network.expose(host, busPort);
  let id;
  return {
    ...server,
    ...host,
    busPort,
    id: async () => {
      id ??= String(await server.db.call('CLUSTER', 'MYID'));
      return id;
    },
  };
}

/** Lines of CLUSTER NODES, split: id, address, flags, master, times, state and slots. */
async function membersOf({ db }) {
  const lines = String(await db.call('CLUSTER', 'NODES'))
    .split('\n')
    .filter(Boolean);
  return lines.map((line) => line.split(' ')).filter(([, , flags]) => !flags.includes('handshake'));
}

async function holderOf(server, slot) {
  const members = await membersOf(server);
  const holder = members.find(([, , , , , , , , ...ranges]) =>
    ranges.some((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return first <= slot && slot <= last;
    }),
  );
  return holder?.[0];
}

async function isUp({ db }) {
  const info = String(await db.call('CLUSTER', 'INFO'));
  return /cluster_state:ok/.test(info) && (await db.role())[0] === 'master';
}

async function untilUp({ db }) {
  const isServing = async () => {
    const info = String(await db.call('CLUSTER', 'INFO'));
    return /cluster_state:ok/.test(info) && info.includes(`cluster_slots_ok:${SLOTS}`);
  };
  await until(isServing, 'the Cluster', 60_000);
}

async function untilReplicated({ db }) {
  await until(async () => /state=online/.test(await db.info('replication')), 'a replica', 60_000);
}

/**
 * Move a slot to another master as `redis-cli --cluster reshard` does, but one key at a time with a pause after each.
 * @returns how many keys have moved
 */
export async function moveSlot({ servers, slot, master }, pause) {
  const from = await master();
  const masters = [];
  for (const server of servers) if ((await server.db.role())[0] === 'master') masters.push(server);
  const to = masters[(masters.indexOf(from) + 1) % masters.length];
  await to.db.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await from.id());
  await from.db.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await to.id());
  let moved = 0;
  for (; ; moved++) {
    const [key] = await from.db.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, 1);
    if (key === undefined) break;
    await from.db.call('MIGRATE', to.host, to.port, key, '0', '5000');
    await pause();
  }
  for (const { db } of [to, from, ...masters])
    await db.call('CLUSTER', 'SETSLOT', slot, 'NODE', await to.id());
  return moved;
}

/** How often any server refused a call because its keys were of several slots. */
export async function crossSlotErrors(servers) {
  let errors = 0;
  for (const { db } of servers) {
    const [, count = '0'] = /errorstat_CROSSSLOT:count=(\d+)/.exec(await db.info('errorstats')) ?? [];
    errors += Number(count);
  }
  return errors;
}
