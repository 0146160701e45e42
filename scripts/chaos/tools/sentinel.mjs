/** Three Sentinels over a master and two replicas. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { atCleanUp, tempDir, until } from '../../proof/faults/stage.mjs';
import { freePort, untilListening } from '../../proof/ports.mjs';
import { startEverysec } from './redis-faults.mjs';

const SENTINELS = 3;
const NAME = 'mymaster';

/** @returns what the settings of a crawl need, the servers, and what to do to them. */
export async function startSentinels() {
  const first = await startEverysec();
  const replicas = [first.port, first.port].map((port) =>
    startEverysec(['--replicaof', '127.0.0.1', String(port)]),
  );
  const servers = [first, ...(await Promise.all(replicas))];
  await until(
    async () => (await first.db.info('replication')).includes('connected_slaves:2'),
    'both replicas',
  );
  await until(async () => !(await first.db.info('replication')).includes('wait_bgsave'), 'their first copy');
  const sentinels = [];
  for (let n = 0; n < SENTINELS; n++) sentinels.push(await startSentinel(first.port));
  const asked = new Redis({ host: '127.0.0.1', port: sentinels[0].port, maxRetriesPerRequest: null });
  asked.on('error', () => {});
  atCleanUp(async () => asked.disconnect());
  const ask = (...words) => asked.call('SENTINEL', ...words, NAME);
  await until(async () => String(await ask('CKQUORUM').catch(String)).startsWith('OK'), 'the quorum');
  await until(async () => (await ask('REPLICAS')).length === 2, 'both replicas to be known');
  const masterPort = async () => Number((await ask('GET-MASTER-ADDR-BY-NAME'))[1]);
  const byPort = new Map(servers.map((server) => [server.port, server]));
  return {
    servers,
    sentinels,
    ask,
    settings: {
      REDIS_SENTINELS: sentinels.map(({ port }) => `127.0.0.1:${port}`),
      REDIS_SENTINEL_NAME: NAME,
    },
    /** The server that the first Sentinel names. */
    master: async () => byPort.get(await masterPort()),
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

async function startSentinel(masterPort) {
  const dir = await tempDir('sentinel');
  const port = await freePort();
  const file = path.join(dir, 'sentinel.conf');
  const watched = [
    `monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
    `down-after-milliseconds ${NAME} 1500`,
    `failover-timeout ${NAME} 6000`,
  ];
  await writeFile(file, watched.map((line) => `sentinel ${line}\n`).join(''));
  const args = [file, '--sentinel', '--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  let child;
  const start = async () => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    await untilListening(port);
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  atCleanUp(async () => void child.kill('SIGKILL'));
  return { port, start, kill };
}
