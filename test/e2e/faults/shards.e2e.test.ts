/** The example of several Redis servers: two shards hand links to each other, while nodes of both are killed. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { runHere } from '../../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../../helpers/cli.js';
import { expectSound } from '../../helpers/expect-sound.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';
import { own } from '../../helpers/resources.js';
import { waitFor } from '../../helpers/wait-for.js';

const PAGES = 300;
const KILLS = 4;
const NODES = 2;
const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'];
const cwd = fileURLToPath(new URL('../../../examples', import.meta.url));

it('two shards crawl each page once while their nodes are killed, and both are complete', async () => {
  const servers = [await startRedis(), await startRedis()];
  const admins = servers.map(({ url }) => new Redis(url));
  const urls = await startWeb();
  const common = {
    SHARDS: servers.map(({ url }) => url).join(','),
    ALLOW_PRIVATE_ADDRESSES: 'true',
    NODE_TIMEOUT: '2',
    HEARTBEAT_INTERVAL: '1',
    CONCURRENT_REQUESTS: '4',
    // What a kill aborts may have to be fetched often, and is no fault of the page.
    MAX_CRASHES: '20',
  };
  const env = ({ url }: RedisServer) => ({ ...common, REDIS_URL: url });
  const start = (server: RedisServer) =>
    startCli(['crawl', 'shards', '-a', `site=${urls[0]}`], { cwd, env: env(server) });
  const nodes = servers.map((server) => Array.from({ length: NODES }, () => start(server)));

  const stats = () =>
    Promise.all(
      servers.map(async (server) => {
        const { stdout } = await runHere(['stats', 'shards', '--json'], { cwd, env: env(server) });
        return JSON.parse(stdout) as Record<
          'startUrls' | 'pending' | 'delayed' | 'leased' | 'done' | 'accepted',
          number
        >;
      }),
    );
  const doneBeyond = (least: number) =>
    waitFor(async () => (await stats()).every(({ done }) => done > least), {
      ...{ timeoutMs: 60_000, intervalMs: 50, what: `more than ${least} pages of each shard` },
    });
  for (let kill = 1; kill <= KILLS; kill++) {
    await doneBeyond(kill * 15);
    for (const [shard, running] of nodes.entries()) {
      const killed: RunningCli = running.shift()!;
      killed.killGroup('SIGKILL');
      await killed.wait();
      running.push(start(servers[shard]!));
    }
  }

  // Nothing waits on any server, and nothing happened between two looks: no shard can hand over anything any more.
  const isIdle = ({ startUrls, pending, delayed, leased }: Awaited<ReturnType<typeof stats>>[number]) =>
    startUrls + pending + delayed + leased === 0;
  const totals = (all: Awaited<ReturnType<typeof stats>>) =>
    JSON.stringify(all.map(({ accepted, done }) => [accepted, done]));
  await waitFor(
    async () => {
      const [first, second] = [await stats(), await stats()];
      return first.every(isIdle) && second.every(isIdle) && totals(first) === totals(second);
    },
    { timeoutMs: 90_000, intervalMs: 200, what: 'two idle shards' },
  );
  for (const node of nodes.flat()) node.kill();
  for (const node of nodes.flat()) expect((await node.wait()).code).toBe(0);

  const crawled = await Promise.all(
    admins.map(async (admin) =>
      (await admin.lrange('shards:items', 0, -1)).map((item) => String(JSON.parse(item).url)),
    ),
  );
  for (const pages of crawled) expect(pages.length).toBeGreaterThan(PAGES / 10);
  expect(crawled.flat().sort()).toEqual([...urls].sort());
  const hostsOf = (pages: readonly string[]) => new Set(pages.map((url) => new URL(url).hostname));
  const [one, two] = crawled.map(hostsOf);
  expect([...one!].filter((host) => two!.has(host))).toEqual([]);
  for (const server of servers) await expectSound('shards', { cwd, env: env(server) });
  for (const admin of admins) admin.disconnect();
  for (const server of servers) await server.stop();
}, 240_000);

/** Pages 2n+1 and 2n+2 are found on page n alone, mostly on other hosts; the other links lead to pages that are known by then. */
async function startWeb(): Promise<string[]> {
  const server = createServer(({ url = '' }, response) => {
    const n = Number(url.slice(1));
    const targets = [2 * n + 1, 2 * n + 2, (n * 7) % PAGES, (n * 31 + 5) % PAGES];
    const links = targets.filter((target) => target < PAGES).map((to) => `<a href="${urlOf(to)}">${to}</a>`);
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Page ${n}</h1>${links.join(' ')}`);
    }, 30);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  own({
    name: 'the web of the shards',
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  const urlOf = (n: number) => `http://${HOSTS[n % HOSTS.length]}:${port}/${n}`;
  return Array.from({ length: PAGES }, (_, n) => urlOf(n));
}
