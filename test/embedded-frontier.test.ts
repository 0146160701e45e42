/** The embedded engine passes the contract, and what only a store of one machine can get wrong. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedFrontier } from '../src/frontier/embedded/embedded-frontier.js';
import type { Frontier } from '../src/frontier/frontier.js';
import type { OpenOptions } from '../src/frontier/open.js';
import { frontierContract } from './frontier-contract.js';

function optionsFor(dir: string, spider = 'news'): OpenOptions {
  return {
    store: { engine: 'embedded', dir },
    keys: {
      requests: `${spider}:requests`,
      dupefilter: `${spider}:dupefilter`,
      startUrls: [`${spider}:start_urls`],
      items: `${spider}:items`,
      stats: `${spider}:stats`,
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape: {
      queueClass: 'PriorityQueue',
      dupefilter: 'RFPDupeFilter',
      fingerprinter: 'scrapy-redis',
      domainKey: 'host',
      persist: true,
    },
    allowEviction: false,
    connectTimeoutMs: 10_000,
  };
}

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'crawlnode-embedded-'));

frontierContract('embedded', async () => {
  const dir = await newFolder();
  const clients: Frontier[] = [];
  return {
    async client() {
      const frontier = await EmbeddedFrontier.open(optionsFor(dir), dir);
      clients.push(frontier);
      return frontier;
    },
    async dispose() {
      await Promise.all(clients.map((client) => client.close()));
      await rm(dir, { recursive: true, force: true });
    },
  };
});
