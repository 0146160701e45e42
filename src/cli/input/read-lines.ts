/** Where seeds and URLs come from: arguments, a file, stdin, packed or not; a line each, or a column of a table. Constant memory. */
import { constants, createReadStream, type ReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { SeedText } from '../../crawler/seeds/seed-text.js';
import { UsageError } from '../../errors.js';
import type { Context } from '../context.js';
import { decompressGzip } from './decompress.js';
import { splitLines } from './split-lines.js';

/** A table of which one column holds the URLs. */
export interface Column {
  /** Null where it is to be found by the first row of a CSV file. */
  readonly name: string | null;
  readonly format: 'csv' | 'jsonl';
}

/** How file and stdin are read; everything may be left out. */
export interface Reading {
  /** Where they are tables. */
  readonly column?: Column | null;
  /** Is given the stream of the file, whose `bytesRead` tells how far it is. */
  readonly opened?: (stream: ReadStream) => void;
  /** Hears which column was taken where none was named. */
  readonly guessed?: (file: string, column: string) => void;
  /** Aborted to end the input here. */
  readonly stop?: AbortSignal;
}

/**
 * Arguments, then the file, then stdin, without empty lines and comments.
 * @throws UsageError for a file that cannot be read, or lacks the column.
 */
export async function* readLines(
  context: Context,
  seeds: readonly string[],
  file: string | null,
  stdin: boolean,
  reading: Reading = {},
): AsyncIterable<SeedText> {
  for (const text of seeds) yield { text, where: `seed ${JSON.stringify(text)}` };
  if (file !== null) {
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    reading.opened?.(stream);
    yield* streamSeeds(file, stream, reading);
  }
  if (stdin) yield* streamSeeds('stdin', context.stdin, reading);
}

async function* streamSeeds(name: string, stream: Readable, reading: Reading): AsyncIterable<SeedText> {
  const { column = null, stop } = reading;
  const plain = await openDecompressed(name, stream, stop);
  if (stop?.aborted) return;
  if (column === null) yield* plainLines(name, plain, stop);
  else if (column.format === 'csv') yield* csvColumn(name, plain, column.name, reading);
  else yield* jsonLinesField(name, plain, column.name ?? 'url', stop);
}

async function openDecompressed(name: string, stream: Readable, stop?: AbortSignal): Promise<Readable> {
  const end = () => void stream.destroy();
  stop?.addEventListener('abort', end);
  try {
    return await decompressGzip(name, stream);
  } catch (error) {
    throw error instanceof UsageError ? error : unreadableError(name, error);
  } finally {
    stop?.removeEventListener('abort', end);
  }
}

/** Said before the first seed is pushed, not after. @throws UsageError */
export async function refuseUnreadable(file: string): Promise<void> {
  await access(file, constants.R_OK).catch((error) => {
    throw unreadableError(file, error);
  });
}

/**
 * The column of URLs that options speak of; null where each line is a seed.
 * @throws UsageError where the format is unknown.
 */
export function columnOf(file: string | null, options: Readonly<Record<string, unknown>>): Column | null {
  const named = typeof options.format === 'string' ? options.format.toLowerCase() : null;
  const extension = file === null ? '' : path.extname(file.replace(/\.gz$/i, '')).slice(1).toLowerCase();
  const format = formats[named ?? extension];
  if (named !== null && format === undefined) {
    throw new UsageError(`--format ${named}: expected csv or jsonl`);
  }
  if (typeof options.column === 'string') {
    if (format !== undefined) return { name: options.column, format };
    throw new UsageError(`--column ${options.column}: say what the input is with --format csv or jsonl`);
  }
  return format === 'csv' ? { name: null, format } : null;
}

const formats: Readonly<Record<string, Column['format'] | undefined>> = Object.assign(Object.create(null), {
  ...{ csv: 'csv', jsonl: 'jsonl', jl: 'jsonl', ndjson: 'jsonl' },
});

/** `# …`; a hash without a blank behind it may be what a spider makes requests of. */
const COMMENT = /^#(\s|$)/;

async function* plainLines(name: string, stream: Readable, stop?: AbortSignal): AsyncIterable<SeedText> {
  let number = 0;
  const end = () => void stream.destroy();
  stop?.addEventListener('abort', end);
  try {
    for await (const line of splitLines(stream)) {
      number += 1;
      const text = (number === 1 ? line.replace(/^\uFEFF/, '') : line).trim();
      if (text !== '' && !COMMENT.test(text)) yield { text, where: `${name}:${number}` };
    }
  } catch (error) {
    if (stop?.aborted !== true) throw unreadableError(name, error);
  } finally {
    stop?.removeEventListener('abort', end);
  }
}

/** A line without the field yields an empty text, which is a bad seed and told as such. */
async function* jsonLinesField(
  name: string,
  stream: Readable,
  column: string,
  stop?: AbortSignal,
): AsyncIterable<SeedText> {
  for await (const { text, where } of plainLines(name, stream, stop)) {
    yield { text: fieldOf(text, column), where };
  }
}

function fieldOf(text: string, column: string): string {
  try {
    const row: unknown = JSON.parse(text);
    if (typeof row !== 'object' || row === null || !Object.hasOwn(row, column)) return '';
    const value = (row as Record<string, unknown>)[column];
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    return '';
  }
}

async function* csvColumn(
  name: string,
  stream: Readable,
  column: string | null,
  { guessed, stop }: Reading,
): AsyncIterable<SeedText> {
  const { parse } = await import('csv-parse');
  let at = -1;
  let row = 0;
  const parser = parse({ bom: true, relax_column_count: true, skip_empty_lines: true, trim: true });
  const failure: { error?: Error } = {};
  stream.once('error', (error: Error) => {
    failure.error = error;
    parser.destroy(error);
  });
  const end = () => void parser.destroy();
  stop?.addEventListener('abort', end);
  try {
    for await (const cells of stream.pipe(parser) as AsyncIterable<string[]>) {
      row += 1;
      if (row === 1) {
        at = columnIn(cells, column, name);
        const isData = isUrl(cells[at]);
        if (column === null) guessed?.(name, isData ? `number ${at + 1}` : JSON.stringify(cells[at]));
        if (!isData) continue;
      }
      yield { text: cells[at] ?? '', where: `${name}: row ${row}` };
    }
  } catch (error) {
    if (stop?.aborted === true) return;
    if (failure.error !== undefined) throw unreadableError(name, failure.error);
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name} is not valid CSV: ${(error as Error).message}`, { cause: error });
  } finally {
    stop?.removeEventListener('abort', end);
  }
}

/** What people call the column of URLs, the likeliest first. */
const urlNames = ['url', 'urls', 'link', 'links', 'href', 'loc', 'uri', 'website', 'page'];

/** By its name; else by what the first row holds: a name people give to URLs, or, where it is no header, a URL. */
function columnIn(cells: readonly string[], column: string | null, file: string): number {
  const first = cells.join(', ');
  if (column !== null) {
    const at = cells.indexOf(column);
    if (at !== -1) return at;
    throw new UsageError(`${file} has no column ${JSON.stringify(column)}; its first row has ${first}`);
  }
  const lower = cells.map((cell) => cell.toLowerCase());
  const named = urlNames.map((name) => lower.indexOf(name)).find((at) => at !== -1);
  const at = named ?? cells.findIndex(isUrl);
  if (at !== -1) return at;
  throw new UsageError(
    `${file}: say which column holds the URL with --column NAME; its first row has ${first}`,
  );
}

function isUrl(cell: string | undefined): boolean {
  return /^https?:\/\//i.test(cell ?? '');
}

function unreadableError(name: string, error: unknown): UsageError {
  return new UsageError(`cannot read ${name}: ${(error as Error).message}`, { cause: error });
}
