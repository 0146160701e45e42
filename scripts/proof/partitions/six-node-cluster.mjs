/** A Redis Cluster of three masters with a replica each, on loopback. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { freePort, untilListening } from '../ports.mjs';

/** After this time without an answer the others count a server as dead, and its replica takes over. */
const NODE_TIMEOUT_MS = 2_000;

export async function startSixNodes(dir) {
  const servers = [];
  for (let n = 0; n < 6; n++) servers.push(await startServer(path.join(dir, `redis-${n}`)));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  await promisify(execFile)('redis-cli', create);
  await until('the Cluster serves all slots', async () => {
    const infos = await Promise.all(servers.map(({ admin }) => admin.cluster('INFO')));
    return infos.every((info) => /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info));
  });
  await until('every master has its replica', async () => {
    const infos = await Promise.all(servers.map(({ admin }) => admin.info('replication')));
    return infos.filter((info) => /state=online/.test(info)).length === 3;
  });
  return {
    addresses,
    servers,
    /** The live server that is the master of a key's slot. */
    async masterOf(key) {
      const [any] = servers.filter(({ isAlive }) => isAlive());
      const slot = await any.admin.cluster('KEYSLOT', key);
      const ranges = await any.admin.cluster('SLOTS');
      const [, , [, port]] = ranges.find(([from, to]) => from <= slot && slot <= to);
      return servers.find((server) => server.port === port);
    },
    async stop() {
      for (const { stop } of servers) await stop();
    },
  };
}

async function startServer(dir) {
  mkdirSync(dir, { recursive: true });
  const [port, busPort] = [await freePort(), await freePort()];
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', dir];
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', busPort];
  const timeout = ['--cluster-node-timeout', NODE_TIMEOUT_MS];
  const all = [...args, ...cluster, ...timeout].map(String);
  let child;
  const start = async () => {
    child = spawn('redis-server', all, { stdio: 'ignore' });
    await untilListening(port);
  };
  await start();
  const admin = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 1 });
  admin.on('error', () => {});
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const end = async (signal) => {
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    ...{ port, admin, isAlive, start },
    kill: () => end('SIGKILL'),
    async stop() {
      admin.disconnect();
      if (isAlive()) await end('SIGTERM');
    },
  };
}

export async function until(what, holds, boundMs = 30_000) {
  const endsAt = performance.now() + boundMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${boundMs} ms`);
    await sleep(100);
  }
}
