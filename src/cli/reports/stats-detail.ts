/** The text output of `stats SPIDER`: a detailed view, or in a pipe one line for each sample of `--watch`. */
import os from 'node:os';
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type CrawlStats, committedItems } from '../../crawler/stats/crawl-stats.js';
import { byteSize, duration, howMany, n } from '../../format-amounts.js';
import { isRunning } from '../../frontier/feed-claim.js';
import { dupefilterInWords } from '../../frontier/shared-settings/shape-differences.js';
import { alignColumns } from '../terminal/align-columns.js';
import type { Paint } from '../terminal/colour.js';
import { fitScreen, type ScreenSize, type Section } from '../terminal/fit-screen.js';
import { oneLine } from '../terminal/printable.js';
import { runText, stateText } from './crawl-state-text.js';
import { deadNodeRow, etaText, heldLines, worstDomainRow } from './telemetry-tables.js';

/** The stats of a crawl at one instant. `rates` is the change per second since the previous sample; null for the first. */
export interface StatsSample {
  readonly stats: CrawlStats;
  readonly atMs: number;
  readonly rates: Readonly<Record<RatedField, number>> | null;
}

/** A page that takes longer is worth a look. */
const LONG_LEASE_MS = 30_000;

/** Requests of each dead node; `--json` has more. */
const HELD_SHOWN = 5;

/** Fields with a rate. The rate of pages is in the heading, as the nodes report it. */
const ratedFields = ['pending', 'failed', 'seen', 'items'] as const;
type RatedField = (typeof ratedFields)[number];

/** @param before the previous sample of the same crawl. */
export function sampleStats(stats: CrawlStats, atMs: number, before: StatsSample | undefined): StatsSample {
  const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1000;
  if (before === undefined || seconds <= 0) return { stats, atMs, rates: null };
  const rates = Object.fromEntries(
    ratedFields.map((name) => {
      const rate = (countOf(stats, name) - countOf(before.stats, name)) / seconds;
      // A total decreases only by a reset, retry or export, which is not a rate.
      return [name, name === 'pending' ? rate : Math.max(0, rate)];
    }),
  ) as Record<RatedField, number>;
  return { stats, atMs, rates };
}

function countOf(stats: CrawlStats, name: RatedField): number {
  return name === 'items' ? committedItems(stats) : stats[name];
}

/** Options of the detailed view. */
export interface DetailOptions {
  /** The arguments that select it (`crawlArguments`). */
  readonly crawl: string;
  readonly paint: Paint;
  readonly nowMs: number;
  /** The screen it must fit; counters are cut first. Null for no limit. */
  readonly screen: ScreenSize | null;
}

/** The detailed view of a crawl: requests by state, memory, run, nodes, feed files and counters. */
export function detail(sample: StatsSample, { crawl, paint, nowMs, screen }: DetailOptions): string {
  const { stats } = sample;
  const sections: Section[] = [
    {
      cutFirst: 0,
      lines: [`${paint('bold', crawlName(stats))}  (${stats.engine})  ${stateText(stats, paint, nowMs)}`],
    },
    { cutFirst: 0, lines: countLines(sample, crawl, paint) },
    { cutFirst: 1, lines: paceLines(stats, paint) },
    { cutFirst: 5, lines: storageLines(stats, paint, nowMs) },
    section(2, 'nodes', nodeRows(stats.nodes), paint),
    { cutFirst: 3, lines: deadNodeLines(stats.deadNodes, paint, nowMs) },
    section(4, 'nodes without a heartbeat', nodeRows(stats.silentNodes), paint),
    section(3, 'worst domains', stats.worstDomains.map(worstDomainRow), paint),
    section(3, 'feed files', feedRows(stats.feeds), paint),
    section(3, 'pipelines of committed items', pipelineRows(stats.pipelines), paint),
    section(3, 'custom stats', namedRows(stats.customStats), paint),
    section(6, 'counters', namedRows(stats.counters), paint),
  ];
  return fitScreen(sections, screen ?? { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY });
}

/** One sample as a line, for `--watch` in a pipe. */
export function watchLine({ stats }: StatsSample, now: Date): string {
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

function countLines({ stats, rates }: StatsSample, crawl: string, paint: Paint): string[] {
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
    const rate = rates === null ? '' : rateText(hasRate(label) ? rates[label] : 0).padStart(11);
    const painted = label === 'failed' && value > 0 ? paint('red', shown) : shown;
    return `  ${label.padEnd(10)}  ${painted}${rate}  ${paint('dim', meaning)}`;
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
function paceLines(
  { limitedBy, limitedByText, eta, wantedNodes, nodes }: CrawlStats,
  paint: Paint,
): string[] {
  const left = etaText(eta);
  const wants =
    wantedNodes === null || wantedNodes === nodes.length ? '' : ` (wants ${howMany(wantedNodes, 'node')})`;
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
    line(engine === 'redis' ? 'memory' : 'size', sizes.join(' · ')),
    line('shape', shared.join(' · ')),
  ];
}

function namedRows(stats: Readonly<Record<string, number | string>>): string[][] {
  return Object.entries(stats)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [oneLine(name), typeof value === 'number' ? n(value) : oneLine(value)]);
}

function nodeRows(nodes: CrawlStats['nodes']): string[][] {
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
  const { slots, slotsUsed, cpu, rssBytes, eventLoopDelayMs, oldestLeaseMs, obstacle, metricsPort } = facts;
  const hangs = oldestLeaseMs < LONG_LEASE_MS ? '' : `, oldest lease ${duration(oldestLeaseMs)}`;
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
  const { lines } = section(3, 'nodes that died within a day', rows, paint);
  // The first line is the title.
  return lines.flatMap((line, at) => (at === 0 ? [line] : [line, ...heldLines(last[at - 1]!, HELD_SHOWN)]));
}

function feedRows(feeds: CrawlStats['feeds']): string[][] {
  return feeds.map(({ path, host, waiting, writerPid }) => [
    ...[oneLine(path), oneLine(host), waiting === 0 ? 'all written' : `${n(waiting)} to be written`],
    writerPid === null ? 'no writer' : `writer: ${processText(host, writerPid)}`,
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

function section(
  cutFirst: number,
  title: string,
  rows: readonly (readonly string[])[],
  paint: Paint,
): Section {
  const lines =
    rows.length === 0 ? [] : [`  ${paint('dim', title)}`, ...alignColumns(rows).map((row) => `  ${row}`)];
  return { cutFirst, lines };
}

const hasRate = (name: string): name is RatedField => (ratedFields as readonly string[]).includes(name);

function rateText(rate: number): string {
  if (Math.abs(rate) < 0.05) return '';
  return `${rate > 0 ? '+' : '-'}${Math.abs(rate) < 100 ? Math.abs(rate).toFixed(1) : n(Math.round(Math.abs(rate)))}/s`;
}
