/** A crawl without an engine, for the bench of partitions. */
import { createHash } from 'node:crypto';
import os from 'node:os';

export function optionsOf(spider, urls) {
  const addressOf = (url) => ({ kind: 'standalone', url, options: {} });
  const keysOf = (name) => ({
    requests: `${name}:requests`,
    dupefilter: `${name}:dupefilter`,
    startUrls: [],
    items: `${name}:items`,
    stats: `${name}:stats`,
  });
  const partitions = urls.map((url, n) => ({
    address: addressOf(url),
    keys: keysOf(n === 0 ? spider : `${spider}:p${n}`),
  }));
  return {
    store: { engine: 'redis', address: addressOf(urls[0]) },
    keys: keysOf(spider),
    ...(urls.length > 1 && { partitions }),
    startUrlsType: 'list',
    seedsFiltered: false,
    shape: {
      queueClass: 'PriorityQueue',
      dupefilter: { class: 'RFPDupeFilter' },
      fingerprinter: 'scrapy-redis',
      domainKey: 'host',
      persist: true,
    },
    allowEviction: true,
    connectTimeoutMs: 10_000,
  };
}

export function joinAs(frontier) {
  const tunables = {
    ...{ delayMs: 0, randomizeDelay: false, concurrencyPerDomain: 1_000, nodeTimeoutMs: 600_000 },
    ...{ failedLimit: 100, queueLimit: 0, pagesPerDomain: 0, slots: null, autothrottle: null },
  };
  const shape = optionsOf('any', ['redis://127.0.0.1']).shape;
  const budgets = { maxPages: 0, maxItems: 0, maxErrors: 0, maxRunMs: 0 };
  return frontier.join(
    { id: 'bench', host: os.hostname(), pid: process.pid },
    {
      ...{ shape, tunables, budgets, feeds: [], hasStart: false, hasIdle: false, args: {} },
      ...{ startsAgain: false, maxCookieJars: 100, flushOnStart: false },
    },
  );
}

/** Page n of the site; its domain follows from its number. */
export function requestOf(n, domains) {
  const fingerprint = createHash('sha1').update(String(n)).digest('hex');
  return {
    id: fingerprint,
    fingerprint,
    record: JSON.stringify({ v: 1, u: `https://site-${n % domains}.example/catalogue/page-${n}.html`, n }),
    domain: `site-${n % domains}.example`,
    priority: 0,
    unfiltered: false,
  };
}
