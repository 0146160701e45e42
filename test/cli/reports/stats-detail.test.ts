/** What `stats` shows of a crawl: it fits the terminal, says one rate, and the same state everywhere. */
import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { detail, sampleStats, watchLine } from '../../../src/cli/reports/stats-detail.js';
import { crawlsTable } from '../../../src/cli/reports/stats-table.js';
import { crawlStateOf } from '../../../src/crawler/stats/crawl-state.js';
import type { CrawlStats } from '../../../src/crawler/stats/crawl-stats.js';

const node = (n: number) => ({
  ...{ id: `node-${n}`, host: 'vm', pid: 1000 + n, startedAt: 0, heartbeatAgeMs: 400 },
  ...{ leased: 8, pages: 100, pagesPerSecond: 3.1, facts: null },
});
const run = {
  ...{ id: 'r', startedAt: 0, pages: 600, items: 600, failed: 0, closed: null, endedAt: null },
  ...{ errorPages: 0, counters: {}, hasGoodPage: true },
};

/** A crawl of two nodes, with more counters than a screen has rows. */
const crawl = (changed: Partial<CrawlStats> = {}): CrawlStats => {
  const stats: Omit<CrawlStats, 'state'> = {
    ...{ spider: 'shop', job: null, engine: 'redis', startUrls: 0, pending: 40, delayed: 2, leased: 16 },
    ...{ done: 595, failed: 3, seen: 640, items: 595, nodes: [node(1), node(2)], run, pagesPerSecond: 6.2 },
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
const plain = (_: string, text: string) => text;
const shown = (stats: CrawlStats, rows: number, columns = 80) =>
  detail(sampleStats(stats, 1_000, sampleStats({ ...stats, pending: 50 }, 0, undefined)), {
    ...{ crawl: 'shop', paint: plain, nowMs: 60_000, screen: { columns, rows } },
  }).split('\n');

describe('one crawl on a screen', () => {
  it('shows headline and numbers at any size, cuts counters first, and wraps nothing', () => {
    for (const rows of [10, 16, 23, 40, 80]) {
      const lines = shown(crawl(), rows, 60);
      expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 10));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
      expect(lines[0]).toBe('shop  (redis)  running, 2 nodes, 6.2 pages/s');
      for (const label of ['start_urls', 'pending', 'done', 'failed', 'items']) {
        expect(lines.filter((line) => line.startsWith(`  ${label}  `.slice(0, 12)))).toHaveLength(1);
      }
    }
    const at80x24 = shown(crawl(), 23).join('\n');
    expect(at80x24).toMatch(/nodes\n +node-1 .*\n +node-2 /);
    expect(at80x24).toMatch(/counters\n(.*\n)+ +… \d+ more$/);
    expect(shown(crawl(), 80).join('\n')).not.toContain('more');
  });

  it('says one rate for pages, and none below nothing for what only counts up', () => {
    const text = shown(crawl(), 23).join('\n');
    expect(text.match(/\/s\b/g)).toHaveLength(1 + 1 + 2); // headline, pending, two nodes
    expect(text).toMatch(/pending +40 +-10.0\/s/);
    const before = sampleStats(crawl(), 0, undefined);
    const cleared = sampleStats(crawl({ done: 0, seen: 0, items: 0, failed: 0 }), 1_000, before);
    expect(cleared.rates).toMatchObject({ failed: 0, seen: 0, items: 0 });
  });

  it('says that the writer of a file is gone', () => {
    const feed = { feed: 'f', path: '/a.jsonl', waiting: 0, writerPid: 2 ** 22 + 1, format: 'jsonl' };
    const here = shown(crawl({ feeds: [{ ...feed, host: os.hostname() }] }), 40).join('\n');
    expect(here).toContain(`writer: process ${feed.writerPid} (gone)`);
    const elsewhere = shown(crawl({ feeds: [{ ...feed, host: 'other' }] }), 40).join('\n');
    expect(elsewhere).toContain(`writer: process ${feed.writerPid}`);
    expect(elsewhere).not.toContain('(gone)');
  });
});

describe('the state of a crawl', () => {
  const ended = { nodes: [], run: { ...run, closed: 'stopped', endedAt: 58_000 } };
  const cases: readonly (readonly [changed: Partial<CrawlStats>, state: string, words: string])[] = [
    [{}, 'running', 'running, 2 nodes, 6.2 pages/s'],
    [{ control: 'paused' }, 'paused', 'paused, 2 nodes'],
    [{ control: 'stopping' }, 'stopping', 'stopping, 2 nodes'],
    [{ run: { ...run, closed: 'finished' } }, 'closing', 'closing (finished), 2 nodes'],
    [{ ...ended, control: 'stopping' }, 'ended', 'ended 2 s ago: stopped'],
    [{ ...ended, control: 'paused' }, 'ended', 'paused, ended 2 s ago: stopped'],
    [{ nodes: [] }, 'died', 'all its nodes died'],
    [{ nodes: [], run: null }, 'waiting', 'waits for its first node'],
    [
      { nodes: [], run: null, pending: 0, delayed: 0, done: 0, failed: 0 },
      ...(['not_begun', 'not begun'] as const),
    ],
  ];

  it.each(cases)(
    'is the same in the head, in a pipe, in the table and as JSON: %o',
    (changed, state, words) => {
      const stats = crawl(changed);
      expect(stats.state).toBe(state);
      expect(shown(stats, 23)[0]).toBe(`shop  (redis)  ${words}`);
      const now = new Date(60_000);
      expect(watchLine(sampleStats(stats, 0, undefined), now)).toMatch(new RegExp(`· ${escaped(words)}$`));
      expect(crawlsTable([stats], plain, 60_000, null)).toMatch(new RegExp(` ${escaped(words)}$`));
    },
  );
});

describe('the table of crawls', () => {
  it('fits a terminal by leaving columns out, and is whole in a pipe', () => {
    const crawls = [crawl(), crawl({ job: 'november', pending: 1_234_567 })];
    const table = (columns: number | null) => crawlsTable(crawls, plain, 60_000, columns).split('\n');
    expect(table(null)[0]).toMatch(/^CRAWL +START_URLS +PENDING .* MEMORY +NODES +STATE$/);
    const narrow = table(80);
    for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow[0]).toMatch(/^CRAWL +PENDING .*DONE +FAILED.*STATE$/);
    expect(narrow[2]).toContain('shop@november');
  });
});

const escaped = (text: string) => text.replace(/[.()]/g, '\\$&');
