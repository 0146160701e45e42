/** How `stats` shows crawls to people: one in detail, many in rows, and in a pipe one line for each look of --watch. */

import type { CrawlStats } from '../../crawler/crawl-stats.js';
import { byteSize, duration } from '../../frontier/amounts.js';
import { dupefilterInWords } from '../../frontier/shape.js';
import type { Paint } from '../terminal/colour.js';
import { crawlName, howMany, n } from '../terminal/format-values.js';
import { oneLine } from '../terminal/printable.js';

/** A crawl at one instant, with what has changed a second since the look before; null where there was none. */
export interface Look {
  readonly stats: CrawlStats;
  readonly atMs: number;
  readonly rates: Readonly<Record<Counted, number>> | null;
}

const counted = ['pending', 'done', 'failed', 'seen', 'items'] as const;
type Counted = (typeof counted)[number];

/** @param before the look before at the same crawl. */
export function lookAt(stats: CrawlStats, atMs: number, before: Look | undefined): Look {
  const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1000;
  if (before === undefined || seconds <= 0) return { stats, atMs, rates: null };
  const rates = Object.fromEntries(
    counted.map((name) => [name, (stats[name] - before.stats[name]) / seconds]),
  ) as Record<Counted, number>;
  return { stats, atMs, rates };
}

/**
 * One crawl: its requests with what each state means, its memory, its run, its nodes, its files, its counters.
 * @param crawl as a command to be typed names it.
 */
export function detail({ stats, rates }: Look, crawl: string, paint: Paint, nowMs: number): string {
  const { engine, bytes, nodes, silentNodes, counters, shape } = stats;
  const remark = (text: string) => paint('dim', text);
  const meanings: readonly [name: keyof CrawlStats & string, meaning: string][] = [
    ['startUrls', 'seeds that wait to be taken in'],
    [
      'pending',
      stats.suspects === 0 ? 'wait for a node' : `wait for a node, ${n(stats.suspects)} of them alone`,
    ],
    ['delayed', 'wait for their time, such as retries'],
    ['leased', 'in work'],
    ['done', 'fetched'],
    ['failed', stats.failed === 0 ? 'given up' : `given up: crawlnode failed ${crawl} list`],
    ['seen', 'fingerprints in the dupefilter'],
    ['items', 'in the items list'],
  ];
  const numbers = meanings.map(([name, meaning]) => {
    const value = n(stats[name] as number);
    const rate = rates === null || !isCounted(name) ? '' : rateText(rates[name]);
    return {
      name,
      value: name === 'failed' && stats.failed > 0 ? paint('red', value) : value,
      width: value.length,
      rate,
      meaning,
    };
  });
  const width = Math.max(...numbers.map((row) => row.width));
  const sizes = Object.entries(bytes)
    .filter(([name, size]) => size > 0 || name === 'frontier' || name === 'dupefilter')
    .map(([name, size]) => `${name} ${byteSize(size)}`);
  const what =
    shape === null
      ? [`data format ${stats.format}`]
      : [
          shape.queueClass,
          dupefilterInWords(shape.dupefilter),
          `${shape.fingerprinter} fingerprints`,
          `data format ${stats.format}`,
        ];
  return [
    `${paint('bold', crawlName(stats))}  (${engine})  ${stateText(stats, paint, nowMs)}`,
    '',
    ...numbers.map(
      ({ name, value, width: own, rate, meaning }) =>
        `  ${name.padEnd(9)}  ${' '.repeat(width - own)}${value}${rates === null ? '' : rate.padStart(11)}  ${remark(meaning)}`,
    ),
    ...(stats.badSeeds > 0
      ? [`  ${paint('red', `${n(stats.badSeeds)} bad seeds`)} were put aside: crawlnode doctor ${crawl}`]
      : []),
    '',
    `  ${remark(engine === 'redis' ? 'memory' : 'size  ')}  ${sizes.join(' · ')}`,
    `  ${remark('shape ')}  ${what.join(' · ')}`,
    ...(stats.run === null ? [] : [`  ${remark('run   ')}  ${runText(stats, nowMs)}`]),
    ...section('nodes', nodeRows(nodes), paint),
    ...section('silent nodes', nodeRows(silentNodes), paint),
    ...section('files of items', feedRows(stats.feeds), paint),
    ...section(
      'counters',
      Object.entries(counters)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [oneLine(name), n(value)]),
      paint,
    ),
  ].join('\n');
}

/** Many crawls, a row each. */
export function overview(looks: readonly Look[], paint: Paint, nowMs: number): string {
  const header = [
    'CRAWL',
    'SEEDS',
    'PENDING',
    'DELAYED',
    'LEASED',
    'DONE',
    'FAILED',
    'ITEMS',
    'MEMORY',
    'NODES',
    'STATE',
  ];
  const rows = looks.map(({ stats }) => [
    crawlName(stats),
    ...[
      stats.startUrls,
      stats.pending,
      stats.delayed,
      stats.leased,
      stats.done,
      stats.failed,
      stats.items,
    ].map(n),
    byteSize(Object.values(stats.bytes).reduce((sum, size) => sum + size, 0)),
    n(stats.nodes.length),
    stateText(stats, (_, text) => text, nowMs),
  ]);
  const [first = '', ...rest] = columns([header, ...rows], { lastLeft: true });
  return [paint('dim', first), ...rest].join('\n');
}

/** A look of --watch in a pipe. */
export function watchLine({ stats, rates }: Look, now: Date): string {
  const parts = (['startUrls', 'pending', 'delayed', 'leased', 'done', 'failed', 'items'] as const).map(
    (name) => `${name} ${stats[name]}`,
  );
  const pages = rates === null ? '' : ` (${(rates.done + rates.failed || 0).toFixed(1)}/s)`;
  const nodes = howMany(stats.nodes.length, 'node');
  return `${now.toISOString().slice(0, 19)}Z  ${crawlName(stats)}  ${parts.join(' · ')}${pages} · ${nodes} · ${stats.control}`;
}

/** How it stands, in a few words. */
function stateText(stats: CrawlStats, paint: Paint, nowMs: number): string {
  const { control, nodes, run, pagesPerSecond } = stats;
  const who = howMany(nodes.length, 'node');
  if (nodes.length > 0) {
    if (control !== 'running') return paint('yellow', `${control}, ${who}`);
    if (run?.closed) return paint('yellow', `closing (${run.closed}), ${who}`);
    return paint('green', `running, ${who}, ${pagesPerSecond.toFixed(1)} pages/s`);
  }
  const held = control === 'running' ? '' : `${control}, `;
  if (run === null)
    return stats.pending + stats.startUrls > 0 ? `${held}waits for its first node` : 'not begun';
  if (run.closed === null) return paint('red', `${held}all its nodes died`);
  const when = run.endedAt === null ? '' : ` ${duration(nowMs - run.endedAt)} ago`;
  return `${held}ended${when}: ${run.closed}`;
}

function runText({ run }: CrawlStats, nowMs: number): string {
  if (run === null) return '';
  const began = `began ${duration(nowMs - run.startedAt)} ago, ${howMany(run.pages, 'page')} begun`;
  if (run.closed === null) return began;
  const ended = run.endedAt === null ? 'closing' : `ended ${duration(nowMs - run.endedAt)} ago`;
  return `${began}, ${ended}: ${run.closed}`;
}

function nodeRows(nodes: CrawlStats['nodes']): string[][] {
  return nodes.map((node) => [
    oneLine(node.id),
    `${oneLine(node.host)}:${node.pid}`,
    `${n(node.leased)} in work`,
    `${n(node.pages)} pages`,
    `${node.pagesPerSecond.toFixed(1)}/s`,
    `heard ${node.heartbeatAgeMs < 10_000 ? `${(node.heartbeatAgeMs / 1000).toFixed(1)} s` : duration(node.heartbeatAgeMs)} ago`,
  ]);
}

function feedRows(feeds: CrawlStats['feeds']): string[][] {
  return feeds.map(({ path, host, waiting, writerPid }) => [
    oneLine(path),
    oneLine(host),
    waiting === 0 ? 'all written' : `${n(waiting)} to be written`,
    writerPid === null ? 'no writer' : `written by process ${writerPid}`,
  ]);
}

function section(title: string, rows: readonly (readonly string[])[], paint: Paint): string[] {
  if (rows.length === 0) return [];
  return ['', `  ${paint('dim', title)}`, ...columns(rows).map((row) => `  ${row}`)];
}

/** First column to the left, and the last where it is text; numbers to the right. */
function columns(rows: readonly (readonly string[])[], { lastLeft = false } = {}): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, at) => {
      if (lastLeft && at === row.length - 1) return cell;
      return at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!);
    });
    return `${cells.join('  ')}`;
  });
}

const isCounted = (name: string): name is Counted => (counted as readonly string[]).includes(name);

function rateText(rate: number): string {
  if (Math.abs(rate) < 0.05) return '';
  return `${rate > 0 ? '+' : '-'}${Math.abs(rate) < 100 ? Math.abs(rate).toFixed(1) : n(Math.round(Math.abs(rate)))}/s`;
}
