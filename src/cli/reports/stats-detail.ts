/** The text output of `stats SPIDER`: a detailed view, or in a pipe one line for each sample of `--watch`. */
import os from 'node:os';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type CrawlStats, committedItems } from '../../crawler/stats/crawl-stats.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import { isRunning } from '../../frontier/feed-claim.js';
import { dupefilterInWords } from '../../frontier/shared-settings/shape-differences.js';
import { changeOf } from '../../pipelines/feeds/changed-feed.js';
import { alignColumns } from '../terminal/align-columns.js';
import type { Paint } from '../terminal/colour.js';
import { oneLine } from '../terminal/printable.js';
import { runText, stateText } from './crawl-state-text.js';
import { deadNodeRow, etaText, heldLines, worstDomainRow } from './telemetry-tables.js';

/** A page that takes longer is worth a look. */
const LONG_LEASE_MS = 30_000;

/** Requests of each dead node; `--json` has more. */
const HELD_SHOWN = 5;

/** Options of the detailed view. */
export interface DetailOptions {
  /** The arguments that select it (`crawlArguments`). */
  readonly crawl: string;
  readonly paint: Paint;
  readonly nowMs: number;
}

/** The detailed view of a crawl: requests by state, memory, run, nodes, feed files and counters. */
export function detail(stats: CrawlStats, { crawl, paint, nowMs }: DetailOptions): string {
  const sections: readonly (readonly string[])[] = [
    [`${paint('bold', crawlName(stats))}  (${stats.engine})  ${stateText(stats, paint, nowMs)}`],
    countLines(stats, crawl, paint),
    paceLines(stats, paint),
    storageLines(stats, paint, nowMs),
    section('nodes', nodeRows(stats.nodes), paint),
    deadNodeLines(stats.deadNodes, paint, nowMs),
    section('nodes without a heartbeat', nodeRows(stats.silentNodes), paint),
    section('worst domains', stats.worstDomains.map(worstDomainRow), paint),
    section('feed files', feedRows(stats.feeds), paint),
    section('pipelines of committed items', pipelineRows(stats.pipelines), paint),
    section('custom stats', namedRows(stats.customStats), paint),
    section('counters', namedRows(stats.counters), paint),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** One sample as a line, for `--watch` in a pipe. */
export function watchLine(stats: CrawlStats, now: Date): string {
  const parts = Object.entries({
    start_urls: stats.startUrls,
    pending: stats.pending,
    delayed: stats.delayed,
    leased: stats.leased,
    done: stats.done,
    failed: stats.failed,
    items: committedItems(stats),
  }).map(([name, value]) => `${name} ${value}`);
  const state = stateText(stats, (_, text) => text, now.getTime());
  return `${now.toISOString().slice(0, 19)}Z  ${crawlName(stats)}  ${parts.join(' · ')} · ${state}`;
}

function countLines(stats: CrawlStats, crawl: string, paint: Paint): string[] {
  const alone = stats.suspects === 0 ? '' : `, ${n(stats.suspects)} of them one at a time, after a crash`;
  const rows: readonly (readonly [label: string, value: number, meaning: string])[] = [
    ['start_urls', stats.startUrls, 'seeds not read yet'],
    ['pending', stats.pending, `${leasableText(stats)}${alone}`],
    ['delayed', stats.delayed, 'ready later, such as retries'],
    ['leased', stats.leased, 'being processed by a node'],
    ['done', stats.done, 'finished'],
    ['failed', stats.failed, stats.failed === 0 ? 'given up' : `given up: crawlnode failed ${crawl} summary`],
    ['seen', stats.seen, 'fingerprints in the dupefilter'],
    ['items', committedItems(stats), `committed, ${n(stats.items)} of them in the items list`],
  ];
  const width = Math.max(...rows.map(([, value]) => n(value).length));
  const lines = rows.map(([label, value, meaning]) => {
    const shown = n(value).padStart(width);
    const painted = label === 'failed' && value > 0 ? paint('red', shown) : shown;
    return `  ${label.padEnd(10)}  ${painted}  ${paint('dim', meaning)}`;
  });
  if (stats.lost > 0) {
    const lost = paint('red', `${howMany(stats.lost, 'request')} lost`);
    lines.push(
      `  ${lost}: their records disappeared from the store; crawlnode doctor ${crawl} says what to do`,
    );
  }
  if (stats.badSeeds === 0) return lines;
  const bad = paint('red', `${n(stats.badSeeds)} bad seeds`);
  return [...lines, `  ${bad} were set aside: crawlnode seed ${crawl} --list-bad`];
}

/** How many pending requests nothing but a free slot is missing to. */
function leasableText({ leasable, pending }: CrawlStats): string {
  if (leasable === null || pending === 0 || leasable === pending) return 'ready for a node';
  const ready = typeof leasable === 'number' ? n(leasable) : `at least ${n(leasable.atLeast)}`;
  return `${ready} ready for a node, the others wait for their domains`;
}

/** What limits the crawl, and how long it takes. */
export function paceLines(
  { limitedBy, limitedByText, eta, wantedNodes, nodes }: CrawlStats,
  paint: Paint,
): string[] {
  const left = etaText(eta);
  const wants =
    wantedNodes === null || wantedNodes === nodes.length
      ? ''
      : wantedNodes === 0
        ? ' (wants no node)'
        : ` (wanted at most ${howMany(wantedNodes, 'node')} within the last 5 min)`;
  return [
    ...(limitedBy === null
      ? []
      : [`  ${paint('dim', 'limited by')}  ${limitedBy}: ${limitedByText}${wants}`]),
    ...(left === null ? [] : [`  ${paint('dim', 'eta       ')}  ${left}`]),
  ];
}

function storageLines(stats: CrawlStats, paint: Paint, nowMs: number): string[] {
  const { bytes, engine, shape } = stats;
  const sizes = Object.entries(bytes)
    .filter(([name, size]) => size > 0 || name === 'frontier' || name === 'dupefilter')
    .map(([name, size]) => `${name} ${byteSize(size)}`);
  const most = stats.memoryLimit ? ` (SCHEDULER_MEMORY_LIMIT ${byteSize(stats.memoryLimit)})` : '';
  const format = `data format ${stats.format}`;
  const shared =
    shape === null
      ? [format]
      : [
          shape.queueClass,
          dupefilterInWords(shape.dupefilter),
          `${shape.fingerprinter} fingerprints`,
          format,
        ];
  const line = (label: string, text: string) => `  ${paint('dim', label.padEnd(6))}  ${text}`;
  return [
    ...(stats.run === null ? [] : [line('run', runText(stats, nowMs))]),
    line(engine === 'redis' ? 'memory' : 'size', `${sizes.join(' · ')}${most}`),
    line('shape', shared.join(' · ')),
  ];
}

function namedRows(stats: Readonly<Record<string, number | string>>): string[][] {
  return Object.entries(stats)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [oneLine(name), typeof value === 'number' ? n(value) : oneLine(value)]);
}

export function nodeRows(nodes: CrawlStats['nodes']): string[][] {
  return nodes.map((node) => [
    oneLine(node.id),
    `${oneLine(node.host)}:${node.pid}`,
    `${n(node.leased)} leased`,
    howMany(node.pages, 'page'),
    `${node.pagesPerSecond.toFixed(1)}/s`,
    `heartbeat ${node.heartbeatAgeMs < 10_000 ? `${(node.heartbeatAgeMs / 1000).toFixed(1)} s` : duration(node.heartbeatAgeMs)} ago`,
    ...factCells(node),
  ]);
}

/** What tells a node that misbehaves from the others. */
function factCells({ facts }: CrawlStats['nodes'][number]): string[] {
  if (facts === null) return ['', '', '', ''];
  const { slots, slotsUsed, cpu, rssBytes, eventLoopDelayMs, obstacle, metricsPort } = facts;
  const { oldestLeaseMs, oldestLeaseDomain } = facts;
  const hangs =
    oldestLeaseMs < LONG_LEASE_MS
      ? ''
      : `, oldest lease ${duration(oldestLeaseMs)} (${oneLine(oldestLeaseDomain ?? '')})`;
  return [
    `${slotsUsed}/${slots} slots${hangs}${obstacle === null ? '' : `, waits for the ${obstacle}`}`,
    ...[`CPU ${Math.round(cpu * 100)} %`, byteSize(rssBytes)],
    `delayed ${n(eventLoopDelayMs)} ms${metricsPort === null ? '' : `, metrics at port ${metricsPort}`}`,
  ];
}

/** The last one first, with some of what it had in progress. */
function deadNodeLines(nodes: CrawlStats['deadNodes'], paint: Paint, nowMs: number): readonly string[] {
  const last = [...nodes].reverse();
  const rows = last.map((node) => deadNodeRow(node, nowMs));
  const lines = section('nodes that died within a day', rows, paint);
  // The first line is the title.
  return lines.flatMap((line, at) => (at === 0 ? [line] : [line, ...heldLines(last[at - 1]!, HELD_SHOWN)]));
}

function feedRows(feeds: CrawlStats['feeds']): string[][] {
  return feeds.map(({ path, host, waiting, writerPid, change }) => [
    ...[oneLine(path), oneLine(host), waiting === 0 ? 'all written' : `${n(waiting)} to be written`],
    change !== null
      ? oneLine(changeOf('the file', change))
      : writerPid === null
        ? 'no writer'
        : `writer: ${processText(host, writerPid)}`,
  ]);
}

function pipelineRows(pipelines: CrawlStats['pipelines']): string[][] {
  return pipelines.map(({ pipeline, host, waiting, callerPid }) => [
    ...[oneLine(pipeline), oneLine(host), waiting === 0 ? 'all accepted' : `${n(waiting)} to be accepted`],
    callerPid === null ? 'no node calls it' : `called by ${processText(host, callerPid)}`,
  ]);
}

/** Whether the process still runs is known only on its own machine. */
function processText(host: string, pid: number): string {
  const isGone = host === os.hostname() && !isRunning(pid);
  return `process ${pid}${isGone ? ' (gone)' : ''}`;
}

function section(title: string, rows: readonly (readonly string[])[], paint: Paint): string[] {
  return rows.length === 0
    ? []
    : [`  ${paint('dim', title)}`, ...alignColumns(rows).map((row) => `  ${row}`)];
}
