/** The progress of `seed`: one live line on a terminal, nothing in a pipe. */
import type { ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { SeedCounts } from '../../crawler/seeds/seed-text.js';
import { n } from '../../format-amounts.js';
import type { Context } from '../context.js';
import { liveLine } from '../terminal/live-line.js';

export interface SeedProgress {
  /** Set the stream of the file, whose `bytesRead` is the progress. */
  opened(stream: ReadStream): void;
  /** Write a line for the user above the live line. */
  note(write: () => void): void;
  stop(): void;
}

const BAR = 20;

/**
 * @param file the input; its size gives a progress bar. Null when the size of the input is unknown.
 * @param place the position shown when there is no bar, such as `3 sitemaps`
 */
export async function seedProgress(
  context: Context,
  counts: SeedCounts,
  file: string | null,
  place: () => string = () => '',
): Promise<SeedProgress> {
  const size = file === null || !context.stderr.isTTY ? 0 : (await stat(file)).size;
  const startedAt = performance.now();
  let stream: ReadStream | null = null;
  const line = await liveLine(context, () => {
    const read = stream === null || size === 0 ? null : Math.min(1, stream.bytesRead / size);
    const elapsedS = (performance.now() - startedAt) / 1000;
    return seedLine(counts, read, elapsedS, context.stderr.columns, place());
  });
  return {
    opened: (opened) => {
      stream = opened;
    },
    note: line.above,
    stop: line.stop,
  };
}

/** @param read the fraction of the file that was read; null when the size is unknown. */
export function seedLine(
  { accepted, duplicates, bad }: SeedCounts,
  read: number | null,
  elapsedS: number,
  columns: number,
  place = '',
): string {
  const done = accepted + duplicates + bad;
  const full = Math.round((read ?? 0) * BAR);
  const bar =
    read === null
      ? place === ''
        ? ''
        : `${place}  `
      : `[${'#'.repeat(full).padEnd(BAR, '·')}] ${Math.floor(read * 100)}%  `;
  const rate = n(Math.round(done / Math.max(elapsedS, 0.001)));
  const line = `${bar}${n(accepted)} accepted · ${n(duplicates)} duplicate · ${n(bad)} bad · ${rate}/s`;
  return line.slice(0, Math.max(1, columns - 1));
}
