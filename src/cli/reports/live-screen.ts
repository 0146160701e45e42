/** One screen of `stats SPIDER --watch`: how the crawl goes, over time, by node and by domain, and what happened last. */
import { crawlName } from '../../crawler/project/crawls-in-store.js';
import { type CrawlStats, committedItems, doneShare } from '../../crawler/stats/crawl-stats.js';
import { duration, n } from '../../format-amounts.js';
import type { CrawlEvent, HistoryPoint } from '../../frontier/frontier.js';
import { HISTORY_STEP_MS } from '../../frontier/types/limits.js';
import { alignColumns } from '../terminal/align-columns.js';
import type { Paint } from '../terminal/colour.js';
import type { ScreenSize } from '../terminal/fit-screen.js';
import { bar, sparkline } from '../terminal/spark.js';
import { stateText } from './crawl-state-text.js';
import { nodeRows, paceLines } from './stats-detail.js';
import { deadNodeRow, eventRow, worstDomainRow } from './telemetry-tables.js';

/** What was read last. */
export interface LiveCrawl {
  readonly stats: CrawlStats;
  /** Points of the last hour, ten seconds apart. */
  readonly history: readonly HistoryPoint[];
  /** Oldest first. */
  readonly events: readonly CrawlEvent[];
  readonly readAtMs: number;
}

/** Older data is said to be so. */
const STALE_MS = 3_000;
const LABEL = 9;
const FACTS = 22;

export function liveScreen(crawl: LiveCrawl, paint: Paint, nowMs: number, screen: ScreenSize): string {
  const head = [
    ...headLines(crawl, paint, nowMs),
    '',
    ...timeLines(crawl.history, nowMs, screen.columns, paint),
  ];
  const foot = paint('dim', 'q ends · the scale of each line is its own; a column is ten seconds');
  const lists = fitLists(listsOf(crawl, paint, nowMs), screen.rows - head.length - 1);
  const body = [...head, ...lists].slice(0, Math.max(0, screen.rows - 1));
  return [...body, ...Array<string>(Math.max(0, screen.rows - 1 - body.length)).fill(''), foot].join('\n');
}

function headLines({ stats, readAtMs }: LiveCrawl, paint: Paint, nowMs: number): string[] {
  const ageMs = nowMs - readAtMs;
  const age =
    ageMs < STALE_MS
      ? paint('dim', new Date(readAtMs).toISOString().slice(11, 19))
      : paint('red', `the store does not answer: what it said ${duration(ageMs)} ago`);
  const counts = Object.entries({
    ...{ pending: stats.pending, delayed: stats.delayed, leased: stats.leased, done: stats.done },
    ...{ failed: stats.failed, items: committedItems(stats), lost: stats.lost },
  }).flatMap(([name, value]) => (value === 0 && name === 'lost' ? [] : [`${name} ${n(value)}`]));
  return [
    `${paint('bold', crawlName(stats))}  (${stats.engine})  ${stateText(stats, paint, nowMs)}  ${age}`,
    `  ${counts.join(' · ')}${progressText(stats)}`,
    ...paceLines(stats, paint),
  ];
}

/** How far the crawl is, where that can be said. */
function progressText(stats: CrawlStats): string {
  const share = doneShare(stats);
  return share === null ? '' : `  ${bar(share, 10)} ${Math.floor(share * 100)} %`;
}

/** The last minutes as lines of small columns. */
function timeLines(history: readonly HistoryPoint[], nowMs: number, columns: number, paint: Paint): string[] {
  const byStep = new Map(history.map((point) => [Math.floor(point.atMs / HISTORY_STEP_MS), point]));
  // The step that goes on has no point yet.
  const last = Math.max(Math.floor(nowMs / HISTORY_STEP_MS) - 1, ...byStep.keys());
  const width = Math.max(1, columns - LABEL - FACTS - 4);
  const steps = Array.from({ length: width }, (_, at) => last - width + 1 + at);
  const since = (name: 'pages' | 'failures') => (step: number) => {
    const [point, before] = [byStep.get(step), byStep.get(step - 1)];
    if (point === undefined || before === undefined) return null;
    return Math.max(0, (point[name] - before[name]) / ((point.atMs - before.atMs) / 1_000));
  };
  const lines: readonly (readonly [string, (step: number) => number | null, string])[] = [
    ['pages', since('pages'), '/s'],
    ['failures', since('failures'), '/s'],
    ['pending', (step) => byStep.get(step)?.pending ?? null, ''],
  ];
  return lines.map(([name, at, unit]) => {
    const values = steps.map(at);
    const known = values.filter((value) => value !== null);
    const amount = (value: number) => `${n(Math.round(value * 10) / 10)}${unit}`;
    const facts =
      known.length === 0
        ? 'not known yet'
        : `${amount(known.at(-1)!)}, at most ${amount(Math.max(...known))}`;
    return `  ${paint('dim', name.padEnd(LABEL))}${sparkline(values)}  ${facts}`;
  });
}

interface List {
  readonly title: string;
  readonly rows: readonly string[];
}

function listsOf({ stats, events }: LiveCrawl, paint: Paint, nowMs: number): List[] {
  const dead = [...stats.deadNodes].reverse().map((node) => deadNodeRow(node, nowMs));
  const nodes = alignColumns([...nodeRows(stats.nodes), ...nodeRows(stats.silentNodes)]);
  return [
    { title: 'nodes', rows: [...nodes, ...alignColumns(dead).map((row) => paint('red', row))] },
    { title: 'worst domains', rows: alignColumns(stats.worstDomains.map(worstDomainRow)) },
    { title: 'last events', rows: alignColumns([...events].reverse().map(eventRow)) },
  ]
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, rows }) => ({ title: `  ${paint('dim', title)}`, rows: rows.map((row) => `  ${row}`) }));
}

/** The first rows of each list: what one does not need, the others get. */
function fitLists(lists: readonly List[], rows: number): string[] {
  const shown = lists.map(() => 0);
  let left = rows - lists.length * 2;
  for (let hasGrown = true; hasGrown && left > 0; ) {
    hasGrown = false;
    for (const [at, { rows: all }] of lists.entries()) {
      if (left === 0 || shown[at] === all.length) continue;
      shown[at]! += 1;
      left -= 1;
      hasGrown = true;
    }
  }
  return lists.flatMap(({ title, rows: all }, at) => {
    const hidden = all.length - shown[at]!;
    if (shown[at] === 0) return [];
    return ['', hidden === 0 ? title : `${title} (${n(hidden)} more)`, ...all.slice(0, shown[at])];
  });
}
