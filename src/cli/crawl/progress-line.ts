/** Formats the live line of a crawl. It fits the terminal: the least important parts are omitted first. */
import { duration, howMany, n } from '../../format-amounts.js';
import type { LimitedBy } from '../../frontier/frontier.js';
import { printable } from '../terminal/printable.js';
import { bar } from '../terminal/spark.js';

/** The numbers of the crawl, summed over all its nodes. */
export interface Progress {
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly failed: number;
  readonly items: number;
  readonly nodes: number;
  /** What keeps the crawl from being faster; null while nobody knows. */
  readonly limitedBy: LimitedBy | null;
  /** Of a crawl whose end is known: the share that is done, and how long the rest takes. */
  readonly doneShare: number | null;
  readonly etaSeconds: number | null;
}

const BAR = 10;

/** The state that the line shows besides the numbers. */
export interface ProgressNotes {
  readonly control: 'running' | 'paused' | 'stopping';
  /** Since the start of this command. */
  readonly elapsedMs: number;
  /** Why the crawl makes no progress, in a few words; null when it does. */
  readonly trouble: string | null;
}

/** @param columns of the terminal. The line is shorter, because a line that wraps cannot be redrawn cleanly. */
export function progressLine(progress: Progress, notes: ProgressNotes, columns: number): string {
  const width = Math.max(0, columns - 1);
  const left = partsOf(progress, notes);
  while (textOf(left).length > width && left.some(({ rank }) => rank > 0)) {
    const lowest = Math.max(...left.map(({ rank }) => rank));
    left.splice(
      left.findIndex(({ rank }) => rank === lowest),
      1,
    );
  }
  return textOf(left).slice(0, width);
}

interface Part {
  readonly text: string;
  /** The highest rank is omitted first. 0 is always shown. */
  readonly rank: number;
}

function partsOf(progress: Progress, { control, elapsedMs, trouble }: ProgressNotes): Part[] {
  const { pages, pagesPerSecond, pending, delayed, leased, failed, items, nodes, limitedBy } = progress;
  // While the crawl makes no progress, the last rate is out of date.
  const rate = trouble === null ? ` (${pagesPerSecond}/s)` : '';
  return [
    ...(control === 'running' ? [] : [{ text: control, rank: 0 }]),
    ...(trouble === null ? [] : [{ text: trouble, rank: 0 }]),
    { text: `${howMany(pages, 'page')}${rate}`, rank: 0 },
    ...endPart(progress),
    { text: `pending ${n(pending)}`, rank: 1 },
    ...(delayed === 0 ? [] : [{ text: `delayed ${n(delayed)}`, rank: 8 }]),
    { text: `leased ${n(leased)}`, rank: 9 },
    { text: `failed ${n(failed)}`, rank: 2 },
    { text: `items ${n(items)}`, rank: 4 },
    { text: howMany(nodes, 'node'), rank: 6 },
    ...(limitedBy === null ? [] : [{ text: `limited by ${limitedBy}`, rank: 7 }]),
    { text: elapsed(elapsedMs), rank: 5 },
  ];
}

function endPart({ doneShare, etaSeconds }: Progress): Part[] {
  if (doneShare === null || etaSeconds === null) return [];
  const left = duration(etaSeconds * 1_000);
  return [{ text: `${bar(doneShare, BAR)} ${Math.floor(doneShare * 100)} %, ${left} left`, rank: 3 }];
}

function textOf(parts: readonly Part[]): string {
  return printable(parts.map(({ text }) => text).join(' · ')).replace(/\n/g, ' ');
}

/** `0:05`, `12:34`, `1:02:03`. */
function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}
