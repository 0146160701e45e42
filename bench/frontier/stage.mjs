/** A store of its own for one measurement, clients of crawls in it, and what they cost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { openFrontier } from '../../dist/frontier/open.js';
import { freePort, untilListening } from '../../scripts/proof/nginx.mjs';
import { redisCost } from '../page-cost/redis-cost.mjs';

const shape = {
  queueClass: 'PriorityQueue',
  dupefilter: { class: 'RFPDupeFilter' },
  fingerprinter: 'scrapy-redis',
  domainKey: 'host',
  persist: true,
};

/** How a node joins where nothing limits it. */
export const joinOptions = {
  shape,
  tunables: {
    delayMs: 0,
    randomizeDelay: false,
    concurrencyPerDomain: 1_000_000,
    nodeTimeoutMs: 600_000,
    failedLimit: 1_000,
    queueLimit: 0,
  },
  budgets: { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 },
  feeds: [],
  hasStart: false,
  flushOnStart: false,
};

/** How to open the crawl of a name: plain data, for this process or another. */
function openOptions(store, crawl) {
  const key = (word) => `${crawl}:${word}`;
  return {
    store,
    keys: {
      requests: key('requests'),
      dupefilter: key('dupefilter'),
      startUrls: [key('start_urls')],
      items: key('items'),
      stats: key('stats'),
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape,
    allowEviction: false,
    connectTimeoutMs: 10_000,
  };
}

export async function openStage(engine) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
  const redis = engine === 'redis' ? await startRedis(dir) : null;
  const address = redis && { kind: 'standalone', url: redis.url, options: {} };
  const store = redis ? { engine, address } : { engine, dir: path.join(dir, 'frontier') };
  const clients = [];
  let crawls = 0;

  return {
    engine,
    /** Options of a crawl that nobody has begun. */
    newCrawl: () => openOptions(store, `crawl${crawls++}`),
    /** A client of a crawl that has not joined. */
    open: (options) => openFrontier(options),
    /** A client of a crawl that has joined as a node. */
    async join(options) {
      const frontier = await openFrontier(options);
      clients.push(frontier);
      await frontier.join({ id: 'bench', host: os.hostname(), pid: process.pid }, joinOptions);
      return frontier;
    },
    /** CPU of the server so far, in µs; of the embedded engine there is none but the node's. */
    serverUs: async () => (redis ? (await redisCost(redis.db)).redisMs * 1000 : Number.NaN),
    /** Bytes of requests and dupefilter, the allocator's losses included. */
    async bytes(frontier, options) {
      const { bytes } = await frontier.snapshot();
      if (!redis) return bytes;
      const dupefilter = (await redis.db.memory('USAGE', options.keys.dupefilter, 'SAMPLES', 0)) ?? 0;
      const used = Number(/^used_memory:(\d+)/m.exec(await redis.db.info('memory'))[1]);
      return { frontier: used - dupefilter, dupefilter };
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await redis?.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function startRedis(dir) {
  const port = await freePort();
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', dir];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  await untilListening(port);
  const db = new Redis(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    db,
    async stop() {
      db.disconnect();
      server.kill('SIGTERM');
      await once(server, 'exit');
    },
  };
}

/** What `work` costs for each of `count` units. */
export async function measure(stage, count, work) {
  const serverUs = await stage.serverUs();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const ms = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const spentUs = (await stage.serverUs()) - serverUs;
  return {
    count,
    perSecond: (count / ms) * 1000,
    nodeUs: (user + system) / count,
    serverUs: Number.isNaN(spentUs) ? null : spentUs / count,
  };
}
