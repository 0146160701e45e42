/**
 * Reads seeds and URLs from arguments, a file and stdin, gzip or not: one a line, or a column of CSV or JSON lines.
 * Memory is constant.
 */
import { constants, createReadStream, openSync, type ReadStream, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import type { SeedText } from '../../crawler/seeds/seed-text.js';
import { UsageError } from '../../errors.js';
import { MAX_SEED_BYTES } from '../../frontier/frontier.js';
import { type Context, note } from '../context.js';
import { decompressGzip } from './decompress.js';
import { splitLines } from './split-lines.js';

/** A table, and the column that holds the URLs. */
export interface Column {
  /** Null when the column is detected from the first row of a CSV file. */
  readonly name: string | null;
  readonly format: 'csv' | 'jsonl';
}

/** Where seeds come from. */
export interface Inputs {
  readonly seeds: readonly string[];
  readonly files: readonly { readonly path: string; readonly column: Column | null }[];
  readonly stdin: boolean;
  /** Of stdin. */
  readonly column: Column | null;
}

/** How files and stdin are read. */
export interface Reading {
  /** Called with the stream of a file, whose `bytesRead` is the progress. */
  readonly opened?: (stream: ReadStream) => void;
  /** Called with the detected column when none was named. */
  readonly guessed?: (file: string, column: string) => void;
  /** Stops reading when aborted. */
  readonly stop?: AbortSignal;
}

/**
 * Yields the arguments, then the files, then stdin. Empty lines and comments are skipped.
 * @throws UsageError when a file cannot be read, or lacks the column
 */
export async function* readLines(
  context: Context,
  { seeds, files, stdin, column }: Inputs,
  reading: Reading = {},
): AsyncIterable<SeedText> {
  for (const text of seeds) yield { text, where: `seed ${JSON.stringify(text)}` };
  for (const { path: file, column: ofFile } of files) {
    if (statSync(file, { throwIfNoEntry: false })?.isFIFO() === true) {
      yield* streamSeeds(file, openPipe(context, file), ofFile, reading);
      continue;
    }
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    reading.opened?.(stream);
    yield* streamSeeds(file, stream, ofFile, reading);
  }
  if (stdin) yield* streamSeeds('stdin', context.stdin, column, reading);
}

/** A named pipe is not opened as a file: that waits for a writer, and a process cannot end while it does. */
function openPipe(context: Context, file: string): Socket {
  // Those of a shell, as in `--file <(command)`, have a writer already.
  if (!file.startsWith('/dev/'))
    note(context, `${file} is a named pipe: waiting for a program that writes to it`);
  return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK) });
}

async function* streamSeeds(
  name: string,
  stream: Readable,
  column: Column | null,
  { guessed, stop }: Reading,
): AsyncIterable<SeedText> {
  try {
    if (stop !== undefined) addAbortSignal(stop, stream);
    const plain = await decompressGzip(name, stream);
    if (column === null) yield* plainLines(name, plain);
    else if (column.format === 'csv') yield* csvColumn(name, plain, column.name, guessed);
    else yield* jsonLinesField(name, plain, column.name ?? 'url');
  } catch (error) {
    if (stop?.aborted === true) return;
    if (error instanceof UsageError) throw error;
    if (!String((error as NodeJS.ErrnoException).code).startsWith('CSV_')) throw unreadableError(name, error);
    throw new UsageError(`${name} is not valid CSV: ${(error as Error).message}`, { cause: error });
  }
}

/** Check the file before the first seed is pushed. @throws UsageError */
export async function refuseUnreadable(file: string): Promise<void> {
  await access(file, constants.R_OK).catch((error) => {
    throw unreadableError(file, error);
  });
}

/**
 * The column that the options select; null when each line is a seed.
 * @throws UsageError when the format is unknown
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

/** `# …`. A hash without a following space may be a seed of a custom format. */
const COMMENT = /^#(\s|$)/;

/** `URL # …`. A URL has no white space, and a fragment follows it directly. */
const TRAILING_COMMENT = /^(https?:\/\/\S+)\s+#(\s.*)?$/i;

/** What UTF-8 makes of the byte order mark of UTF-16, which PowerShell writes by `>`. */
const UTF16 = /^\uFFFD\uFFFD/;

async function* plainLines(name: string, stream: Readable): AsyncIterable<SeedText> {
  let number = 0;
  for await (const lines of splitLines(stream, MAX_SEED_BYTES)) {
    for (const line of lines) {
      number += 1;
      if (number === 1 && UTF16.test(line)) throw new UsageError(`${name} is UTF-16: save it as UTF-8`);
      const text = (number === 1 ? line.replace(/^\uFEFF/, '') : line).trim().replace(TRAILING_COMMENT, '$1');
      if (text === '' || COMMENT.test(text)) continue;
      const where = `${name}:${number}`;
      if (text.length > MAX_SEED_BYTES) yield { text, where, problem: 'the line is longer than 1 MB' };
      else yield { text, where };
    }
  }
}

/** A line without the field yields an empty text, which is reported as a bad seed. */
async function* jsonLinesField(name: string, stream: Readable, column: string): AsyncIterable<SeedText> {
  for await (const line of plainLines(name, stream)) yield { ...line, text: fieldOf(line.text, column) };
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
  guessed: Reading['guessed'],
): AsyncIterable<SeedText> {
  const { parse } = await import('csv-parse');
  let at = -1;
  let row = 0;
  const parser = parse({
    ...{ bom: true, relax_column_count: true, skip_empty_lines: true, trim: true },
    max_record_size: MAX_SEED_BYTES,
  });
  // The reader of the parser receives the errors.
  pipeline(stream, parser, () => {});
  for await (const cells of parser as AsyncIterable<string[]>) {
    row += 1;
    if (row === 1) {
      at = columnIn(cells, column, name);
      const isData = isUrl(cells[at]);
      if (column === null) guessed?.(name, isData ? `number ${at + 1}` : JSON.stringify(cells[at]));
      if (!isData) continue;
    }
    yield { text: cells[at] ?? '', where: `${name}: row ${row}` };
  }
}

/** Common names of URL columns, the most likely first. */
const urlNames = ['url', 'urls', 'link', 'links', 'href', 'loc', 'uri', 'website', 'page'];

/** The index of the named column; else of a common URL column name; else of the first cell that holds a URL. */
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
