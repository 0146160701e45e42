/**
 * A controller starts and stops real nodes by `/scale`, as KEDA does with deploy/kubernetes: through a crawl that grows, waits for
 * longer than five minutes, goes on and ends. All processes and the server have a wall clock that runs twenty times as fast, and
 * ten times faster than that while no node runs and a page waits for its time.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { canStepClocks, type SteppedClock, steppedClock } from '../../helpers/children/stepped-clock.js';
import { runHere } from '../../helpers/cli/run-here.js';
import { type RunningCli, startCli } from '../../helpers/cli.js';
import { expectSound } from '../../helpers/expect-sound.js';
import { createProject, type Project } from '../../helpers/project.js';
import { type RedisServer, startRedis } from '../../helpers/redis/redis-server.js';
import { waitFor } from '../../helpers/wait-for.js';
import { walk } from '../../helpers/walk.js';

const FAST = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
const SLOW = '127.0.0.5';
const PAGES_EACH = 200;
const SLOW_PAGES = 8;
/** It answers with 503 at first, and is due again after forty minutes or more. */
const LATE_PAGES = 1;
const LATER_SEEDS = 40;
const SCALE_MAX = 4;
const MINUTE_MS = 60_000;

const manifests = readFileSync(
  fileURLToPath(new URL('../../../deploy/kubernetes/autoscale.yaml', import.meta.url)),
  'utf8',
);
const { pollingInterval, triggers } = parseAllDocuments(manifests)[0]!.toJS().spec;
const { url: scaleUrl, valueLocation, targetValue } = triggers[0].metadata;

let clock: SteppedClock;
let ticking: NodeJS.Timeout;
let redis: RedisServer;
let web: Server;
let project: Project;
/** Milliseconds of the fast clock. */
let nowMs: () => number;
/** Seconds that it gains nineteen times a second. */
let pace: number;

beforeEach(async () => {
  if (!canStepClocks) return;
  clock = steppedClock();
  let ahead = 0;
  pace = 1;
  nowMs = () => Date.now() + ahead * 1_000;
  ticking = setInterval(() => {
    ahead += pace;
    clock.set(ahead);
  }, 1_000 / 19);
  redis = await startRedis({ env: clock.env });
  web = await startWeb();
  const { port } = web.address() as AddressInfo;
  project = await createProject({
    settings: {
      ...{ REDIS_URL: redis.url, SCALE_MAX, ROBOTSTXT_OBEY: false, ALLOW_PRIVATE_ADDRESSES: true },
      ...{ CONCURRENT_REQUESTS: 16, CONCURRENT_REQUESTS_PER_DOMAIN: 16 },
      ...{ NODE_TIMEOUT: 300, HEARTBEAT_INTERVAL: 1, RETRY_BACKOFF: 4_800, RETRY_BACKOFF_MAX: 4_800 },
      DOWNLOAD_SLOTS: { [`${SLOW}:${port}`]: { delay: 20 } },
    },
    files: { 'spiders/shop.ts': walk().replace("'walk'", "'shop'") },
  });
});

afterEach(async () => {
  if (!canStepClocks) return;
  web.closeAllConnections();
  web.close();
  await project.remove();
  await redis.stop();
  clearInterval(ticking);
  await clock.remove();
});

it.skipIf(!canStepClocks)(
  'a controller that follows /scale gives a crawl the nodes that it can use, and none while it waits',
  async () => {
    const cwd = project.dir;
    const { env } = clock;
    const dashboard = startCli(['dashboard', '--port', '0', '--json'], { cwd, env });
    await dashboard.waitForOutput('"url"');
    const address = new URL(new URL(scaleUrl).pathname, JSON.parse(dashboard.stdout()).url);
    const wanted = async () => {
      const scale = (await (await fetch(address)).json()) as Record<string, number>;
      return Math.ceil(scale[valueLocation]! / targetValue);
    };
    const stats = async () => JSON.parse((await runHere(['stats', 'shop', '--json'], { cwd })).stdout);

    const running: RunningCli[] = [];
    const ended: RunningCli[] = [];
    const changes: { readonly atMs: number; readonly nodes: number }[] = [];
    let isOver = false;
    const follow = async () => {
      for (let nextMs = nowMs(); !isOver; nextMs += pollingInterval * 1_000) {
        while (nowMs() < nextMs && !isOver) await sleep(20);
        const nodes = await wanted();
        if (nodes === running.length) continue;
        while (running.length < nodes) running.push(startCli(['crawl', 'shop'], { cwd, env }));
        for (const node of running.splice(nodes)) {
          node.kill();
          ended.push(node);
        }
        changes.push({ atMs: nowMs(), nodes });
      }
    };
    const until = (what: string, condition: () => boolean | Promise<boolean>) =>
      waitFor(condition, { timeoutMs: 120_000, intervalMs: 200, what });

    const urls = urlsOf(web);
    const [first] = urls;
    const seed = (seeds: readonly string[]) => runHere(['seed', 'shop', ...seeds], { cwd });
    expect(await seed([first!])).toMatchObject({ code: 0 });
    const following = follow();
    following.catch(() => {}); // It is awaited at the end.
    await until('a crawl that grows', () => running.length === SCALE_MAX);
    await until('no node while a page waits for its time', async () => {
      const { pending, delayed } = await stats();
      return running.length === 0 && pending === 0 && delayed === LATE_PAGES;
    });
    const allButLate = urls.length - LATE_PAGES;
    expect((await stats()).done).toBe(allButLate);
    pace = 10;
    await until('a node for what is due soon', () => running.length > 0);
    pace = 1;
    await until('no node after the last page', async () => {
      return running.length === 0 && (await stats()).done === urls.length;
    });
    const laterUrls = Array.from({ length: LATER_SEEDS }, (_, n) => `${first}later-${n}`);
    expect(await seed(laterUrls)).toMatchObject({ code: 0 });
    await until('nodes for new seeds', () => running.length > 0);
    await until('the end', async () => {
      return running.length === 0 && (await stats()).done === urls.length + LATER_SEEDS;
    });
    isOver = true;
    await following;
    expect(await wanted()).toBe(0);
    for (const node of ended) expect(await node.wait()).toMatchObject({ code: 0 });

    const gaps = changes.slice(1).map(({ atMs }, n) => atMs - changes[n]!.atMs);
    // A look may take a moment longer than the next one.
    expect(Math.min(...gaps), JSON.stringify(changes)).toBeGreaterThan(MINUTE_MS * 0.9);
    expect(changes.at(-1)!.nodes).toBe(0);
    const admin = new Redis(redis.url);
    const crawled = (await admin.lrange('shop:items', 0, -1)).map((item) => String(JSON.parse(item).url));
    admin.disconnect();
    expect(crawled.sort()).toEqual([...urls, ...laterUrls].sort());
    await expectSound('shop', { cwd });
    dashboard.kill();
    await dashboard.wait();
  },
  300_000,
);

/** The first page leads to the trees of the fast hosts, to all pages of the slow one, and to the one that comes late. */
async function startWeb(): Promise<Server> {
  const late = new Set<string>();
  const server = createServer((request, response) => {
    const path = request.url!.slice(1);
    const isLate = path.startsWith('late-') && !late.has(path);
    if (isLate) late.add(path);
    const links = linksOf(server, request.headers.host!, path).map((url) => `<a href="${url}">more</a>`);
    setTimeout(() => {
      response.writeHead(isLate ? 503 : 200, { 'content-type': 'text/html' }).end(links.join(' '));
    }, 400);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return server;
}

function linksOf(server: Server, host: string, path: string): string[] {
  if (path === '') return urlsOf(server).filter((url) => /\/(0|slow-\d+|late-\d+)$/.test(url));
  const n = Number(path);
  return [2 * n + 1, 2 * n + 2]
    .filter((child) => child < PAGES_EACH)
    .map((child) => `http://${host}/${child}`);
}

function urlsOf(server: Server): string[] {
  const { port } = server.address() as AddressInfo;
  const numbered = (host: string, prefix: string, count: number) =>
    Array.from({ length: count }, (_, n) => `http://${host}:${port}/${prefix}${n}`);
  return [
    `http://${FAST[0]}:${port}/`,
    ...FAST.flatMap((host) => numbered(host, '', PAGES_EACH)),
    ...numbered(SLOW, 'slow-', SLOW_PAGES),
    ...numbered(FAST[0]!, 'late-', LATE_PAGES),
  ];
}
