/** A table of crawls, one row each. */

import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type CrawlStats, committedItems, storedBytes } from '../../crawler/stats/crawl-stats.js';
import { byteSize, duration, n } from '../../format-amounts.js';
import { alignColumns } from '../terminal/align-columns.js';
import type { Paint } from '../terminal/colour.js';
import { cut } from '../terminal/fit-screen.js';
import { stateText } from './crawl-state-text.js';

interface Column {
  readonly title: string;
  readonly value: (stats: CrawlStats) => string;
  /** On a narrow terminal the column with the highest number is omitted first. 0 is always shown. */
  readonly leaveOut: number;
}

const count = (
  title: string,
  field: 'startUrls' | 'pending' | 'delayed' | 'leased' | 'done' | 'failed',
  leaveOut: number,
): Column => ({
  title,
  leaveOut,
  value: (stats) => n(stats[field]),
});

const size = (crawl: CrawlStats) => byteSize(storedBytes(crawl));

/** For `list --store`: what is in a store, how old and large it is, and whether anybody uses it. */
export function storeTable(crawls: readonly CrawlStats[], nowMs: number): string {
  const ago = (atMs: number | null) => (atMs === null ? '' : duration(Math.max(0, nowMs - atMs)));
  const rows = crawls.map((crawl) => [
    ...[crawlName(crawl), ago(crawl.beganAtMs), size(crawl), ago(crawl.usedAtMs)],
    stateText(crawl, (_, text) => text, nowMs),
  ]);
  return alignColumns([['CRAWL', 'AGE', 'SIZE', 'UNUSED FOR', 'LAST RUN'], ...rows]).join('\n');
}

/** @param columns of the terminal; null in a pipe, where all columns are shown. */
export function crawlsTable(
  crawls: readonly CrawlStats[],
  paint: Paint,
  nowMs: number,
  columns: number | null,
): string {
  const all: readonly Column[] = [
    { title: 'CRAWL', leaveOut: 0, value: crawlName },
    count('START_URLS', 'startUrls', 5),
    count('PENDING', 'pending', 0),
    count('DELAYED', 'delayed', 3),
    count('LEASED', 'leased', 4),
    count('DONE', 'done', 0),
    count('FAILED', 'failed', 0),
    { title: 'ITEMS', leaveOut: 1, value: (stats) => n(committedItems(stats)) },
    { title: 'MEMORY', leaveOut: 6, value: size },
    { title: 'NODES', leaveOut: 2, value: ({ nodes }) => n(nodes.length) },
    { title: 'STATE', leaveOut: 0, value: (stats) => stateText(stats, (_, text) => text, nowMs) },
  ];
  const tableOf = (shown: readonly Column[]) =>
    alignColumns([
      shown.map(({ title }) => title),
      ...crawls.map((stats) => shown.map(({ value }) => value(stats))),
    ]);
  let shown = all;
  let lines = tableOf(shown);
  while (columns !== null && lines.some(({ length }) => length > columns)) {
    const next = Math.max(...shown.map(({ leaveOut }) => leaveOut));
    if (next === 0) break;
    shown = shown.filter(({ leaveOut }) => leaveOut !== next);
    lines = tableOf(shown);
  }
  const [header = '', ...rows] = columns === null ? lines : lines.map((line) => cut(line, columns));
  return [paint('dim', header), ...rows].join('\n');
}
