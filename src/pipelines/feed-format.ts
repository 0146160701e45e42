/**
 * The formats of feed files. A format renders a batch of items, given as JSON texts, into the text to append. The file is
 * complete after every append, because each append ends with `closing`, which the next append overwrites.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { UsageError } from '../errors.js';

export type FeedFormatName = 'jsonl' | 'json' | 'csv';

/** The state that a format needs to continue a file. */
export interface FeedState {
  /** Items in the file already. */
  readonly sequence: number;
  /** For CSV, the columns as a JSON list; empty before the first item and for other formats. */
  readonly header: string;
}

export interface Rendered {
  readonly text: string;
  readonly header: string;
  /** Fields of items that have no column. */
  readonly dropped: readonly string[];
}

export interface FeedFormat {
  /** The text before the first item. */
  readonly opening: string;
  /** The text after the last item. */
  readonly closing: string;
  /** Whether items can be appended to a file that this job did not write. */
  readonly appends: boolean;
  /** The header of such a file, read from its beginning. */
  adopt(beginning: string): string;
  render(items: readonly string[], state: FeedState): Rendered;
}

const byExtension: Readonly<Record<string, FeedFormatName>> = {
  '.jsonl': 'jsonl',
  '.jl': 'jsonl',
  '.ndjson': 'jsonl',
  '.jsonlines': 'jsonl',
  '.json': 'json',
  '.csv': 'csv',
};

/**
 * The format of a feed: the given one, else that of the file extension.
 * @throws UsageError for an unknown extension or format.
 */
export function feedFormat(file: string, named?: string): FeedFormatName {
  const format = formatOf(named === undefined ? path.extname(file) : `.${named}`);
  if (format !== undefined) return format;
  const formatNames = 'jsonl, json or csv';
  throw new UsageError(
    named === undefined
      ? `${file} does not say its format: end it in .${formatNames.replaceAll(', ', ', .').replace('or ', 'or .')}, or add a colon and one of them.`
      : `"${named}" is not a feed format: use ${formatNames}.`,
  );
}

/** Parse a file name as Scrapy's `-o` does: `out:csv` gives the format of a file without an extension. */
export function namedFeed(text: string): { readonly file: string; readonly format?: string } {
  const [, file, format] = /^(.+):(\w+)$/.exec(text) ?? [];
  return file === undefined || formatOf(`.${format}`) === undefined
    ? { file: text }
    : { file, format: format! };
}

function formatOf(extension: string): FeedFormatName | undefined {
  const lower = extension.toLowerCase();
  return Object.hasOwn(byExtension, lower) ? byExtension[lower] : undefined;
}

const jsonl: FeedFormat = {
  opening: '',
  closing: '',
  appends: true,
  adopt: () => '',
  render: (items) => ({ text: items.map((item) => `${item}\n`).join(''), header: '', dropped: [] }),
};

const json: FeedFormat = {
  opening: '[',
  closing: '\n]\n',
  appends: false,
  adopt: () => '',
  render: (items, { sequence }) => {
    const text = items.map((item, i) => `${sequence + i === 0 ? '\n' : ',\n'}${item}`).join('');
    return { text, header: '', dropped: [] };
  },
};

/** RFC 4180. The fields of the first item are the columns; other fields are dropped, as in Scrapy. */
const csv: FeedFormat = {
  opening: '',
  closing: '',
  appends: true,
  adopt: (beginning) => {
    const columns = firstRecord(beginning);
    return columns.length === 0 ? '' : JSON.stringify(columns);
  },
  render: (texts, { header }) => {
    const items = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const columns = header === '' ? firstFields(items) : (JSON.parse(header) as string[]);
    if (columns.length === 0) return { text: '', header: '', dropped: [] };
    const rows = items.map((item) =>
      columns.map((column) => cell(Object.hasOwn(item, column) ? item[column] : null)),
    );
    if (header === '') rows.unshift(columns);
    const columnSet = new Set(columns);
    const dropped = new Set<string>();
    for (const item of items) for (const field in item) if (!columnSet.has(field)) dropped.add(field);
    return { text: toCsv(rows), header: JSON.stringify(columns), dropped: [...dropped] };
  },
};

export const feedFormats: Readonly<Record<FeedFormatName, FeedFormat>> = { jsonl, json, csv };

/** The fields of the first item that has any. */
function firstFields(items: readonly Record<string, unknown>[]): string[] {
  for (const item of items) {
    const fields = Object.keys(item);
    if (fields.length > 0) return fields;
  }
  return [];
}

function cell(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : JSON.stringify(value);
}

const require = createRequire(import.meta.url);

function toCsv(rows: readonly string[][]): string {
  // Loaded on first use, because most crawls write no CSV.
  const { stringify } = require('csv-stringify/sync') as typeof import('csv-stringify/sync');
  return stringify(rows as string[][], {
    record_delimiter: '\r\n',
    // By default csv-stringify quotes only the whole record delimiter, but a lone CR or LF breaks a line as well.
    quoted_match: /[\r\n]/,
    // A row of one empty cell would be an empty line, which readers skip.
    quoted_empty: rows[0]!.length === 1,
  });
}

/** The first record of a CSV text: the columns of a file to append to. */
function firstRecord(text: string): string[] {
  const cells: string[] = [];
  const matcher = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  matcher.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  for (let match = matcher.exec(text); match !== null; match = matcher.exec(text)) {
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') break;
  }
  return cells.length === 1 && cells[0] === '' ? [] : cells;
}
