/** The live line of a crawl as text. It fits the terminal: what matters least is left out first. */
import { howMany, n } from '../terminal/format-values.js';
import { printable } from '../terminal/printable.js';

/** What the line shows of the whole crawl, over all its nodes. */
export interface Progress {
  readonly pages: number;
  readonly pagesPerSecond: number;
  readonly pending: number;
  readonly delayed: number;
  readonly leased: number;
  readonly failed: number;
  readonly items: number;
  readonly nodes: number;
}

/** What the line shows beside the numbers. */
export interface ProgressNotes {
  readonly control: 'running' | 'paused' | 'stopping';
  /** Since this command began. */
  readonly elapsedMs: number;
  /** Why nothing moves, in a few words; null when all is well. */
  readonly trouble: string | null;
}

/** @param columns of the terminal. The line is shorter: one that wraps leaves pieces behind when it is drawn again. */
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
  /** 0 stays; the highest is left out first. */
  readonly rank: number;
}

function partsOf(progress: Progress, { control, elapsedMs, trouble }: ProgressNotes): Part[] {
  const { pages, pagesPerSecond, pending, delayed, leased, failed, items, nodes } = progress;
  // The last rate says nothing while nothing moves.
  const rate = trouble === null ? ` (${pagesPerSecond}/s)` : '';
  return [
    ...(control === 'running' ? [] : [{ text: control, rank: 0 }]),
    ...(trouble === null ? [] : [{ text: trouble, rank: 0 }]),
    { text: `${howMany(pages, 'page')}${rate}`, rank: 0 },
    { text: `pending ${n(pending)}`, rank: 1 },
    ...(delayed === 0 ? [] : [{ text: `delayed ${n(delayed)}`, rank: 6 }]),
    { text: `leased ${n(leased)}`, rank: 7 },
    { text: `failed ${n(failed)}`, rank: 2 },
    { text: `items ${n(items)}`, rank: 3 },
    { text: howMany(nodes, 'node'), rank: 5 },
    { text: elapsed(elapsedMs), rank: 4 },
  ];
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
