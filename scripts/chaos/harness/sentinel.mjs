/** Three Sentinels over a master and two replicas, on a network that can be split. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { startNetwork } from './network.mjs';
import { freePort, untilListening } from './ports.mjs';
import { everysec, startStore } from './redis.mjs';
import { atCleanUp, tempDir, until } from './stage.mjs';

const SENTINELS = 3;
const NAME = 'mymaster';

/** @returns what the settings of a crawl need, the servers, and what to do to them. */
export async function startSentinels() {
  const network = startNetwork();
  const first = await startMember(network);
  const replicas = [first, first].map(({ outer, port }) =>
    startMember(network, ['--replicaof', outer, String(port)]),
  );
  const servers = [first, ...(await Promise.all(replicas))];
  await until(
    async () => (await first.db.info('replication')).includes('connected_slaves:2'),
    'both replicas',
  );
  await until(async () => !(await first.db.info('replication')).includes('wait_bgsave'), 'their first copy');
  const sentinels = [];
  for (let n = 0; n < SENTINELS; n++) sentinels.push(await startSentinel(network, first));
  const asked = new Redis({ host: sentinels[0].inner, port: sentinels[0].port, maxRetriesPerRequest: null });
  asked.on('error', () => {});
  atCleanUp(async () => asked.disconnect());
  const ask = (...words) => asked.call('SENTINEL', ...words, NAME);
  await until(async () => String(await ask('CKQUORUM').catch(String)).startsWith('OK'), 'the quorum');
  await until(async () => (await ask('REPLICAS')).length === 2, 'both replicas to be known');
  const masterPort = async () => Number((await ask('GET-MASTER-ADDR-BY-NAME'))[1]);
  const byPort = new Map(servers.map((server) => [server.port, server]));
  return {
    network,
    servers,
    sentinels,
    ask,
    settings: {
      REDIS_SENTINELS: sentinels.map(({ outer, port }) => `${outer}:${port}`),
      REDIS_SENTINEL_NAME: NAME,
    },
    /** The server that the first Sentinel names. */
    master: async () => byPort.get(await masterPort()),
    /** Resolves when all servers but one follow it, so that the next fault finds a replica. */
    untilHealed: () => until(() => isHealed(servers), 'two replicas', 60_000),
    /** Resolves when another server is named, and takes writes. */
    async untilOther({ port }) {
      const isOther = async () => {
        const now = await masterPort();
        return now !== port && (await byPort.get(now).db.role())[0] === 'master';
      };
      await until(isOther, 'another master', 60_000);
    },
  };
}

async function isHealed(servers) {
  const infos = await Promise.all(servers.map(({ db }) => db.info('replication').catch(String)));
  const following = infos.filter((info) => /^master_link_status:up/m.test(info)).length;
  return following === servers.length - 1;
}

async function startMember(network, args = []) {
  const host = network.newHost();
  const addresses = ['--replica-announce-ip', host.outer, '--bind-source-addr', host.inner];
  // It takes any address of loopback but 127.0.0.1 for another machine.
  const server = await startStore([...everysec, ...args, ...addresses, '--protected-mode', 'no'], {
    host: host.inner,
  });
  await network.expose(host, server.port);
  return { ...server, ...host };
}

async function startSentinel(network, master) {
  const host = network.newHost();
  const dir = await tempDir('sentinel');
  const port = await freePort(host.inner);
  const file = path.join(dir, 'sentinel.conf');
  const watched = [
    `monitor ${NAME} ${master.outer} ${master.port} 2`,
    `down-after-milliseconds ${NAME} 1500`,
    `failover-timeout ${NAME} 6000`,
  ];
  const announced = [`announce-ip ${host.outer}`, `announce-port ${port}`];
  await writeFile(file, [...announced, ...watched].map((line) => `sentinel ${line}\n`).join(''));
  const args = [file, '--sentinel', '--port', String(port), '--bind', host.inner, '--dir', dir];
  args.push('--bind-source-addr', host.inner, '--protected-mode', 'no');
  let child;
  const start = async () => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    await untilListening(port, host.inner);
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  await network.expose(host, port);
  atCleanUp(async () => void child.kill('SIGKILL'));
  return { ...host, port, start, kill };
}
