/** What `stats` shows of a crawl: it fits the terminal, says one rate, and the same state everywhere. */
import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { detail, watchLine } from '../../../src/cli/reports/stats-detail.js';
import { crawlsTable } from '../../../src/cli/reports/stats-table.js';
import type { CrawlStats } from '../../../src/crawler/stats/crawl-stats.js';
import { crawlStats, nodeStats, runSnapshot } from './crawl-stats-example.js';

const plain = (_: string, text: string) => text;
const shown = (stats: CrawlStats) =>
  detail(stats, { crawl: 'shop', paint: plain, nowMs: 60_000 }).split('\n');

describe('one crawl', () => {
  it('shows headline, numbers, nodes and counters', () => {
    const lines = shown(crawlStats());
    expect(lines[0]).toBe('shop  (redis)  running, 2 nodes, 6.2 pages/s');
    for (const label of ['start_urls', 'pending', 'done', 'failed', 'items'])
      expect(lines.filter((line) => line.startsWith(`  ${label}  `.slice(0, 12)))).toHaveLength(1);
    expect(lines.join('\n')).toMatch(/nodes\n +node-1 .*\n +node-2 /);
    expect(lines.join('\n')).toMatch(/counters\n( +downloader\/count_\d+ +\d+\n?){35}$/);
  });

  it('says with the number of nodes that the work wanted over which time that holds', () => {
    const limited = { limitedBy: 'domain_concurrency', limitedByText: 'full' } as const;
    const line = (wantedNodes: number) =>
      shown(crawlStats({ ...limited, wantedNodes })).find((line) => line.includes('limited by'));
    expect(line(3)).toBe(
      '  limited by  domain_concurrency: full (wanted at most 3 nodes within the last 5 min)',
    );
    expect(line(2)).toBe('  limited by  domain_concurrency: full');
    expect(line(0)).toBe('  limited by  domain_concurrency: full (wants no node)');
  });

  it('shows of a dead node what it had in progress, and how much more', () => {
    const held = [
      { id: 'a'.repeat(40), url: 'https://a.example/1', state: 'pending' as const },
      { id: 'b'.repeat(40), url: null, state: 'seen' as const },
    ];
    const dead = { ...nodeStats(9), diedAtMs: 50_000, requests: 5, held };
    const text = shown(crawlStats({ deadNodes: [dead] })).join('\n');
    expect(text).toMatch(/died within a day\n +node-9 +vm:1009 +died 10 s ago +held 5 requests +100 pages\n/);
    expect(text).toMatch(/\n +https:\/\/a\.example\/1 +pending again\n +b{40} +done since\n +… 3 more\n/);
  });

  it('says that the writer of a file is gone, and that the file is', () => {
    const feed = {
      feed: 'f',
      path: '/a.jsonl',
      waiting: 0,
      writerPid: 2 ** 22 + 1,
      format: 'jsonl',
      change: null,
    };
    const here = shown(crawlStats({ feeds: [{ ...feed, host: os.hostname() }] })).join('\n');
    expect(here).toContain(`writer: process ${feed.writerPid} (gone)`);
    const elsewhere = shown(crawlStats({ feeds: [{ ...feed, host: 'other' }] })).join('\n');
    expect(elsewhere).toContain(`writer: process ${feed.writerPid}`);
    expect(elsewhere).not.toContain('(gone)');
    const change = { what: 'is gone', items: 3 };
    const changed = shown(crawlStats({ feeds: [{ ...feed, host: 'other', change }] })).join('\n');
    expect(changed).toContain('the file is gone: 3 items may be lost');
  });
});

describe('the state of a crawl', () => {
  const ended = { nodes: [], run: { ...runSnapshot, closed: 'stopped', endedAt: 58_000 } };
  const cases: readonly (readonly [changed: Partial<CrawlStats>, state: string, words: string])[] = [
    [{}, 'running', 'running, 2 nodes, 6.2 pages/s'],
    [{ control: 'paused' }, 'paused', 'paused, 2 nodes'],
    [{ control: 'stopping' }, 'stopping', 'stopping, 2 nodes'],
    [{ run: { ...runSnapshot, closed: 'finished' } }, 'closing', 'closing (finished), 2 nodes'],
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
      const stats = crawlStats(changed);
      expect(stats.state).toBe(state);
      expect(shown(stats)[0]).toBe(`shop  (redis)  ${words}`);
      const now = new Date(60_000);
      expect(watchLine(stats, now)).toMatch(new RegExp(`· ${escaped(words)}$`));
      expect(crawlsTable([stats], plain, 60_000, null)).toMatch(new RegExp(` ${escaped(words)}$`));
    },
  );
});

describe('the table of crawls', () => {
  it('fits a terminal by leaving columns out, and is whole in a pipe', () => {
    const crawls = [crawlStats(), crawlStats({ job: 'november', pending: 1_234_567 })];
    const table = (columns: number | null) => crawlsTable(crawls, plain, 60_000, columns).split('\n');
    expect(table(null)[0]).toMatch(/^CRAWL +START_URLS +PENDING .* MEMORY +NODES +STATE$/);
    const narrow = table(80);
    for (const line of narrow) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow[0]).toMatch(/^CRAWL +PENDING .*DONE +FAILED.*STATE$/);
    expect(narrow[2]).toContain('shop@november');
  });
});

const escaped = (text: string) => text.replace(/[.()]/g, '\\$&');
