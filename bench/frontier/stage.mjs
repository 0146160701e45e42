/** A store of its own for one measurement, clients of crawls in it, and what they cost. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openFrontier } from '../../dist/internal.js';
import { defaultShape, openOptions } from '../../scripts/chaos/harness/open-options.mjs';
import { startRedis } from '../../scripts/chaos/harness/redis.mjs';
import { redisCost } from '../page-cost/redis-cost.mjs';

/** How a node joins where nothing limits it. */
export const joinOptions = {
  shape: defaultShape,
  tunables: {
    delayMs: 0,
    randomizeDelay: false,
    concurrencyPerDomain: 1_000_000,
    nodeTimeoutMs: 600_000,
    failedLimit: 1_000,
    queueLimit: 0,
    memoryLimit: 0,
    pagesPerDomain: 0,
    slots: null,
    autothrottle: null,
  },
  budgets: { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 },
  feeds: [],
  hasStart: false,
  hasIdle: false,
  maxCookieJars: 10_000,
  flushOnStart: false,
  args: {},
  startsAgain: false,
};

export async function openStage(engine) {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'crawlnode-bench-'));
  const redis = engine === 'redis' ? await startRedis(dir) : null;
  const place = redis?.url ?? path.join(dir, 'frontier');
  const clients = [];
  let crawls = 0;

  return {
    engine,
    /** Options of a crawl that nobody has begun. */
    newCrawl: () => openOptions(place, `crawl${crawls++}`),
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
