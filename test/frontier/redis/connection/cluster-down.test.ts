/** A Cluster that does not serve when a command starts: the command waits, and ends with the state of the Cluster. */
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { runCli, startCli } from '../../../helpers/cli.js';
import { createProject } from '../../../helpers/project.js';
import { startCluster } from '../../../helpers/redis/redis-cluster.js';
import { startRedis } from '../../../helpers/redis/redis-server.js';
import { waitFor } from '../../../helpers/wait-for.js';

const spider = `
import { Spider } from 'crawlnode';
export default class extends Spider { name = 'news'; }
`;
const commands = [
  ['crawl', 'news', '--exit-when-done'],
  ['seed', 'news', 'http://127.0.0.1:1/'],
  ['stats', 'news'],
  ['doctor', 'news'],
];

async function projectOn(nodes: readonly string[]) {
  return createProject({
    settings: { REDIS_CLUSTER_NODES: nodes, REDIS_CONNECT_TIMEOUT: 2 },
    files: { 'spiders/news.ts': spider },
  });
}

it('in cluster_state:fail every command waits REDIS_CONNECT_TIMEOUT, then exits with 4 and the state', async () => {
  const cluster = await startCluster();
  const project = await projectOn(cluster.servers.map(({ host, port }) => `${host}:${port}`));
  try {
    const [first] = cluster.servers;
    const admin = new Redis(first!.url);
    const slot = 0;
    // A slot that nobody serves: the Cluster fails as a whole.
    for (const { url } of cluster.servers) {
      const each = new Redis(url);
      await each.cluster('DELSLOTS', slot).catch(() => {});
      each.disconnect();
    }
    await waitFor(async () => String(await admin.cluster('INFO')).includes('cluster_state:fail'), {
      what: 'the Cluster to fail',
    });
    const ends = await Promise.all(commands.map((args) => runCli(args, { cwd: project.dir })));
    for (const [n, { code, stdout, stderr }] of ends.entries()) {
      expect({ command: commands[n]![0], code, said: stdout + stderr }).toEqual({
        command: commands[n]![0],
        code: 4,
        said: expect.stringMatching(
          /does not serve \(tried for 2 s\): .* says cluster_state:fail, 16383 of 16384 slots/,
        ),
      });
    }
    // One that is mended meanwhile is waited for.
    const patient = startCli([...commands[0]!, '-s', 'START_TIMEOUT=0', '-s', 'REDIS_CONNECT_TIMEOUT=60'], {
      cwd: project.dir,
    });
    await waitFor(async () => String(await admin.client('LIST')).split('\n').length > 2, {
      what: 'the command to ask the Cluster',
    });
    await admin.cluster('ADDSLOTS', slot);
    expect(await patient.wait()).toMatchObject({ code: 0 });
    admin.disconnect();
  } finally {
    await project.remove();
    await cluster.stop();
  }
});

it('of one server that has no address of its own: exit 4, and what to set', async () => {
  const server = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  const admin = new Redis(server.url);
  await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await waitFor(async () => String(await admin.cluster('INFO')).includes('cluster_state:ok'), {
    what: 'its slots',
  });
  admin.disconnect();
  const project = await projectOn([`${server.host}:${server.port}`]);
  try {
    for (const args of commands) {
      const { code, stdout, stderr } = await runCli(args, { cwd: project.dir });
      expect({ code, said: stdout + stderr }).toEqual({
        code: 4,
        said: expect.stringContaining('CLUSTER SLOTS has an empty host'),
      });
    }
  } finally {
    await project.remove();
    await server.stop();
  }
});
