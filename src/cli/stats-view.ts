/** A snapshot of a crawl as `stats` gives it: the JSON others script against, and the table for people. */
import type { Frontier, NodeSnapshot, OutboxSnapshot, RunSnapshot, Snapshot } from '../frontier/frontier.js';
import { printable } from './printable.js';

/** The JSON of `crawlnode stats S --json`; its shape is fixed. */
export interface CrawlStats {
  readonly spider: string;
  /** null when unnamed. */
  readonly job: string | null;
  readonly engine: 'redis' | 'embedded';
  readonly startUrls: number;
  /** Without the delayed ones. */
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly done: number;
  readonly failed: number;
  readonly seen: number;
  readonly items: number;
  readonly bytes: { readonly frontier: number; readonly dupefilter: number };
  /** The live ones. */
  readonly nodes: readonly NodeSnapshot[];
  readonly counters: Readonly<Record<string, number>>;
  /** The latest one, with the reason it ended for, or is closing; null before the first node. */
  readonly run: RunSnapshot | null;
}

export function statsOf(
  crawl: {
    readonly spider: string;
    readonly job: string | null;
    readonly frontier: Pick<Frontier, 'engine'>;
  },
  snapshot: Snapshot,
): CrawlStats {
  const { startUrls, pending, delayed, leased, done, failed, seen, items, bytes, counters, run } = snapshot;
  const nodes = snapshot.nodes.map(
    ({ id, host, pid, startedAt, heartbeatAgeMs, leased: held, pages, pagesPerSecond }) => ({
      ...{ id, host, pid, startedAt, heartbeatAgeMs },
      ...{ leased: held, pages, pagesPerSecond },
    }),
  );
  return {
    ...{ spider: crawl.spider, job: crawl.job, engine: crawl.frontier.engine },
    ...{ startUrls, pending, delayed, leased, done, failed, seen, items, bytes, nodes, counters, run },
  };
}

/**
 * Lines of aligned columns: the crawl, its nodes, its counters; and what needs somebody: seeds put aside as bad,
 * committed items that wait for a file, a crawl that is paused or stopping.
 */
export function statsTable(stats: CrawlStats, snapshot: Snapshot): string {
  const { bytes } = stats;
  const { badSeeds, control } = snapshot;
  const waiting = snapshot.outbox.filter((feed) => feed.waiting > 0);
  const title = `${stats.spider}${stats.job === null ? '' : `@${stats.job}`}  (${stats.engine})`;
  const numbers = [
    ...(['startUrls', 'pending', 'delayed', 'leased', 'done', 'failed', 'seen', 'items'] as const).map(
      (name) => [name, stats[name].toLocaleString('en')] as const,
    ),
    ['frontier', byteSize(bytes.frontier)] as const,
    ['dupefilter', byteSize(bytes.dupefilter)] as const,
    ...(badSeeds > 0 ? [['bad seeds', badSeeds.toLocaleString('en')] as const] : []),
    ...(control === 'running' ? [] : [['control', control] as const]),
    ...(stats.run === null ? [] : [['run', runInWords(stats.run)] as const]),
  ];
  const nodes = stats.nodes.map((node) => [
    printable(node.id),
    `${printable(node.host)}:${node.pid}`,
    `${node.pages} pages`,
    `${node.pagesPerSecond.toFixed(1)}/s`,
    `${node.leased} leased`,
    `seen ${(node.heartbeatAgeMs / 1000).toFixed(1)} s ago`,
  ]);
  const counters = Object.entries(stats.counters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [printable(name), value.toLocaleString('en')]);
  return [
    title,
    ...columns(numbers),
    ...(nodes.length === 0 ? ['  no live nodes'] : ['nodes', ...columns(nodes)]),
    ...(waiting.length === 0 ? [] : ['items that wait to be written', ...columns(waiting.map(feedRow))]),
    ...(counters.length === 0 ? [] : ['counters', ...columns(counters)]),
  ].join('\n');
}

/** Why the latest run ended, or that it has not. */
function runInWords({ closed, pages }: RunSnapshot): string {
  const downloads = `${pages.toLocaleString('en')} downloads`;
  return closed === null ? `on, ${downloads}` : `ended: ${printable(closed)}, ${downloads}`;
}

function feedRow({ host, path, waiting }: OutboxSnapshot): string[] {
  return [printable(path), printable(host), `${waiting.toLocaleString('en')} items`];
}

/** First column to the left, numbers to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!)));
    return `  ${cells.join('  ')}`;
  });
}

function byteSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
