/** The Redis engine passes the contract, and what only a store behind a network can get wrong. */
import { afterAll, beforeAll } from 'vitest';
import type { Frontier, Shape } from '../src/frontier/frontier.js';
import type { OpenOptions } from '../src/frontier/open.js';
import { RedisFrontier } from '../src/frontier/redis/redis-frontier.js';
import { frontierContract } from './frontier-contract.js';
import { type RedisServer, startRedis } from './helpers/redis-server.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const shape: Shape = {
  queueClass: 'PriorityQueue',
  dupefilter: 'RFPDupeFilter',
  fingerprinter: 'scrapy-redis',
  domainKey: 'host',
  persist: true,
};

function optionsFor(spider: string): OpenOptions {
  return {
    store: { engine: 'redis', address: { kind: 'standalone', url: server.url, options: {} } },
    keys: {
      requests: `${spider}:requests`,
      dupefilter: `${spider}:dupefilter`,
      startUrls: [`${spider}:start_urls`],
      items: `${spider}:items`,
      stats: `${spider}:stats`,
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape,
    allowEviction: false,
    connectTimeoutMs: 10_000,
  };
}

let crawls = 0;

frontierContract('Redis', async () => {
  crawls += 1;
  const options = optionsFor(`spider${crawls}`);
  const clients: Frontier[] = [];
  return {
    async client() {
      if (options.store.engine !== 'redis') throw new Error('not a Redis store');
      const frontier = await RedisFrontier.open(options, options.store.address);
      clients.push(frontier);
      return frontier;
    },
    async dispose() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
});
