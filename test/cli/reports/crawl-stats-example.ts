/** Stats of a crawl for tests of what is shown of it. */
import { crawlStateOf } from '../../../src/crawler/stats/crawl-state.js';
import type { CrawlStats } from '../../../src/crawler/stats/crawl-stats.js';

export const nodeStats = (n: number) => ({
  ...{ id: `node-${n}`, host: 'vm', pid: 1000 + n, startedAt: 0, heartbeatAgeMs: 400 },
  ...{ leased: 8, pages: 100, pagesPerSecond: 3.1, facts: null },
});
export const runSnapshot = {
  ...{ id: 'r', startedAt: 0, pages: 600, items: 600, failed: 0, closed: null, endedAt: null },
  ...{ errorPages: 0, counters: {}, hasGoodPage: true },
};

/** A crawl of two nodes, with more counters than a screen has rows. */
export const crawlStats = (changed: Partial<CrawlStats> = {}): CrawlStats => {
  const stats: Omit<CrawlStats, 'state'> = {
    ...{ spider: 'shop', job: null, engine: 'redis', startUrls: 0, pending: 40, delayed: 2, leased: 16 },
    ...{
      done: 595,
      failed: 3,
      seen: 640,
      items: 595,
      nodes: [nodeStats(1), nodeStats(2)],
      run: runSnapshot,
      pagesPerSecond: 6.2,
    },
    bytes: { frontier: 1e6, dupefilter: 1e6, startUrls: 0, items: 1e6, stats: 0 },
    counters: Object.fromEntries(Array.from({ length: 35 }, (_, n) => [`downloader/count_${n}`, n])),
    ...{ accepted: 655, removed: 0, lost: 0, suspects: 0, badSeeds: 0, domains: 1, control: 'running' },
    ...{ silentNodes: [], feeds: [], pipelines: [], format: 5, customStats: {} },
    ...{ limitedBy: null, limitedByText: null, leasable: null, slots: null, slotsUsed: null },
    ...{
      usableSlots: null,
      eta: null,
      wantedNodes: null,
      storeMemory: null,
      deadNodes: [],
      worstDomains: [],
      ...{ beganAtMs: 0, usedAtMs: 0, memoryLimit: null },
    },
    shape: {
      queueClass: 'PriorityQueue',
      dupefilter: { class: 'RFPDupeFilter' },
      ...{ fingerprinter: 'scrapy-redis', domainKey: 'host', persist: true },
    },
    ...changed,
  };
  return { ...stats, state: crawlStateOf(stats) };
};
