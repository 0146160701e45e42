/** Where seeds and URLs come from: arguments, a file, stdin; a line each, or a column of a table. Constant memory. */
import { constants, createReadStream, type ReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { UsageError } from '../errors.js';
import type { Context } from './context.js';

/** One seed as it was written, and where it stands. */
export interface Line {
  readonly text: string;
  readonly where: string;
  /** Why it cannot be a seed, where that is known already. */
  readonly problem?: string;
}

/** A table of which one column holds the URLs. */
export interface Column {
  readonly name: string;
  readonly format: 'csv' | 'jsonl';
}

/**
 * Arguments, then the file, then stdin, without empty lines.
 * @param column where file and stdin are tables.
 * @param opened is given the stream of the file, whose `bytesRead` tells how far it is.
 * @throws UsageError for a file that cannot be read, or lacks the column.
 */
export async function* readLines(
  context: Context,
  seeds: readonly string[],
  file: string | null,
  stdin: boolean,
  column: Column | null = null,
  opened: (stream: ReadStream) => void = () => {},
): AsyncIterable<Line> {
  for (const text of seeds) yield { text, where: `seed ${JSON.stringify(text)}` };
  if (file !== null) {
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    opened(stream);
    yield* seedsOf(file, stream, column);
  }
  if (stdin) yield* seedsOf('stdin', context.stdin, column);
}

function seedsOf(name: string, stream: Readable, column: Column | null): AsyncIterable<Line> {
  if (column === null) return linesOf(name, stream);
  return column.format === 'csv' ? cellsOf(name, stream, column.name) : fieldsOf(name, stream, column.name);
}

/** Said before the first seed is pushed, not after. @throws UsageError */
export async function refuseUnreadable(file: string): Promise<void> {
  await access(file, constants.R_OK).catch((error) => {
    throw unreadable(file, error);
  });
}

/**
 * The column of URLs that options speak of; null where each line is a seed.
 * @throws UsageError where the format is unknown, or a CSV file comes without a column.
 */
export function columnOf(file: string | null, options: Readonly<Record<string, unknown>>): Column | null {
  const named = typeof options.format === 'string' ? options.format.toLowerCase() : null;
  const extension = file === null ? '' : path.extname(file).slice(1).toLowerCase();
  const format = formats[named ?? extension];
  if (named !== null && format === undefined) {
    throw new UsageError(`--format ${named}: expected csv or jsonl`);
  }
  if (typeof options.column === 'string') {
    if (format !== undefined) return { name: options.column, format };
    throw new UsageError(`--column ${options.column}: say what the input is with --format csv or jsonl`);
  }
  if (format === 'csv') throw new UsageError('a CSV file: say which column holds the URL with --column NAME');
  return null;
}

const formats: Readonly<Record<string, Column['format'] | undefined>> = Object.assign(Object.create(null), {
  ...{ csv: 'csv', jsonl: 'jsonl', jl: 'jsonl', ndjson: 'jsonl' },
});

async function* linesOf(name: string, stream: Readable): AsyncIterable<Line> {
  let number = 0;
  // readline either throws what its input does or ends quietly, by the version of Node.
  const failure: { error?: Error } = {};
  stream.once('error', (error: Error) => {
    failure.error = error;
  });
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      const text = (number === 1 ? line.replace(/^\uFEFF/, '') : line).trim();
      if (text !== '') yield { text, where: `${name}:${number}` };
    }
  } catch (error) {
    if (error !== failure.error) throw error;
  }
  if (failure.error !== undefined) throw unreadable(name, failure.error);
}

/** A line without the field yields an empty text, which is a bad seed and told as such. */
async function* fieldsOf(name: string, stream: Readable, column: string): AsyncIterable<Line> {
  for await (const { text, where } of linesOf(name, stream)) {
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

async function* cellsOf(name: string, stream: Readable, column: string): AsyncIterable<Line> {
  const { parse } = await import('csv-parse');
  let at = -1;
  let row = 0;
  const parser = parse({ bom: true, relax_column_count: true, skip_empty_lines: true, trim: true });
  const failure: { error?: Error } = {};
  stream.once('error', (error: Error) => {
    failure.error = error;
    parser.destroy(error);
  });
  try {
    for await (const cells of stream.pipe(parser) as AsyncIterable<string[]>) {
      row += 1;
      if (row > 1) {
        yield { text: cells[at] ?? '', where: `${name}: row ${row}` };
        continue;
      }
      at = cells.indexOf(column);
      if (at === -1) {
        throw new UsageError(
          `${name} has no column ${JSON.stringify(column)}; its first row has ${cells.join(', ')}`,
        );
      }
    }
  } catch (error) {
    if (failure.error !== undefined) throw unreadable(name, failure.error);
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name} is not valid CSV: ${(error as Error).message}`, { cause: error });
  }
}

function unreadable(name: string, error: unknown): UsageError {
  return new UsageError(`cannot read ${name}: ${(error as Error).message}`, { cause: error });
}
