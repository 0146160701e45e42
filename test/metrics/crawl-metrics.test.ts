/** The metrics of crawls, read from real stores. */
import { afterEach, describe, expect, it } from 'vitest';
import { DomainReader } from '../../src/crawler/stats/domain-reports.js';
import { StatsReader } from '../../src/crawler/stats/read-stats.js';
import { FrontierUnavailableError, RefusedError } from '../../src/errors.js';
import { openFrontier } from '../../src/frontier/choose-engine.js';
import type { Frontier } from '../../src/frontier/frontier.js';
import { type CrawlReader, crawlMetrics } from '../../src/metrics/crawl-metrics.js';
import { request } from '../frontier-contract/world.js';
import { freshStore } from '../helpers/node.js';
import { openOptions } from '../helpers/open-options.js';
import { promtool, withPrometheus } from '../helpers/prometheus/promtool.js';
import { startRedis } from '../helpers/redis/redis-server.js';
import { tempDir } from '../helpers/temp-dir.js';

const opened: Frontier[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((frontier) => frontier.close()));
});

/** A crawl of some pending requests, of one domain each. */
async function crawlIn(
  open: Awaited<ReturnType<typeof freshStore>>,
  job: string | null,
  domains: Readonly<Record<string, number>>,
): Promise<CrawlReader> {
  const frontier = await openFrontier(open);
  opened.push(frontier);
  const requests = Object.entries(domains).flatMap(([domain, count]) =>
    Array.from({ length: count }, (_, n) => request(`${domain}/${n}`, { domain })),
  );
  await frontier.push(requests, 'seeds');
  const crawl = { spider: 'shop', job, scaleMax: 100, frontier };
  const reader = new StatsReader(crawl);
  const domainReader = new DomainReader(frontier);
  return {
    ...{ spider: 'shop', job },
    stats: () => reader.read(),
    domains: async () => (await domainReader.page('pending', 5)).domains,
  };
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

const away: CrawlReader = {
  ...{ spider: 'gone', job: null },
  stats: () => Promise.reject(new FrontierUnavailableError('the store does not answer')),
  domains: async () => [],
};

describe('the metrics of crawls', () => {
  it('bear the name of the crawl, with its job', async () => {
    const plain = await crawlIn(await freshStore(), null, { 'a.example': 2 });
    const night = await crawlIn(openOptions(tempDir().dir, 'shop'), 'night', { 'a.example': 3 });
    const lines = linesOf(await crawlMetrics(async () => [plain, night]));
    expect(lines).toEqual(
      expect.arrayContaining([
        'crawlnode_store_up 1',
        'crawlnode_crawl_requests{crawl="shop",state="pending"} 2',
        'crawlnode_crawl_requests{crawl="shop@night",state="pending"} 3',
        'crawlnode_crawl_leasable_requests{crawl="shop"} 2',
        'crawlnode_crawl_nodes{crawl="shop"} 0',
        'crawlnode_crawl_node_deaths_total{crawl="shop"} 0',
        'crawlnode_crawl_lost_requests_total{crawl="shop@night"} 0',
        'crawlnode_crawl_state{crawl="shop",state="waiting"} 1',
        'crawlnode_crawl_state{crawl="shop",state="running"} 0',
        'crawlnode_crawl_oldest_lease_seconds{crawl="shop"} 0',
      ]),
    );
    const named = new Set(lines.map((line) => /^\w+/.exec(line)![0]));
    expect(named).toContain('crawlnode_crawl_bytes');
    expect(named).toContain('crawlnode_crawl_wanted_nodes');
  });

  it('name no domain unless METRICS_DOMAINS of that crawl asks for the busiest, and never a URL', async () => {
    const crawl = await crawlIn(await freshStore(), null, { 'a.example': 1, 'b.example': 3 });
    const b = { domain: 'b.example', pending: 3, leased: 1 };
    const silent = { ...crawl, spider: 'other', domains: async () => [] };
    const known = { ...crawl, domains: async () => [b] } as unknown as CrawlReader;
    const text = await crawlMetrics(async () => [silent, known]);
    expect(text.match(/^.*b\.example.*$/gm)).toEqual([
      'crawlnode_crawl_domain_requests{crawl="shop",domain="b.example"} 4',
    ]);
    expect(text).not.toContain('a.example');
    expect(text).not.toContain('http:');
  });

  it('tell the memory of a Redis that has a limit', async () => {
    const redis = await startRedis({ args: ['--maxmemory', '64mb'] });
    try {
      const crawl = await crawlIn(openOptions(redis.url, 'shop'), null, { 'a.example': 1 });
      const text = await crawlMetrics(async () => [crawl]);
      expect(text).toContain(`crawlnode_store_memory_limit_bytes ${64 * 1_048_576}`);
      expect(Number(/^crawlnode_store_memory_bytes (\d+)/m.exec(text)?.[1])).toBeGreaterThan(500_000);
    } finally {
      await Promise.all(opened.splice(0).map((frontier) => frontier.close()));
      await redis.stop();
    }
  });

  it('say nothing of crawls while the store is away', async () => {
    const crawl = await crawlIn(await freshStore(), null, { 'a.example': 1 });
    expect(linesOf(await crawlMetrics(async () => [crawl, away]))).toEqual(['crawlnode_store_up 0']);
    const list = () => Promise.reject(new FrontierUnavailableError('the store does not answer'));
    expect(linesOf(await crawlMetrics(list))).toEqual(['crawlnode_store_up 0']);
  });

  it('leave out a crawl that refuses access', async () => {
    const crawl = await crawlIn(await freshStore(), null, { 'a.example': 1 });
    const refused = { ...away, stats: () => Promise.reject(new RefusedError('another format')) };
    const text = await crawlMetrics(async () => [refused, crawl]);
    expect(text).toContain('crawlnode_store_up 1');
    expect(text).not.toContain('crawl="gone"');
    expect(text).toContain('crawl="shop"');
  });

  withPrometheus('pass promtool check metrics', async () => {
    const crawl = await crawlIn(await freshStore(), null, { 'a.example': 1 });
    expect(promtool(['check', 'metrics'], await crawlMetrics(async () => [crawl, crawl]))).toBe('');
  });
});
