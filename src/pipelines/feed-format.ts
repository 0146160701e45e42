/**
 * How items look in a feed file. A format turns a batch of JSON texts into the text to append; the file is
 * complete after every append, because `closing` follows it and is overwritten by the next.
 */
import path from 'node:path';
import { UsageError } from '../errors.js';
import { csvText, escapeFormula, firstRecord } from './csv-rows.js';

export type FeedFormatName = 'jsonl' | 'json' | 'csv';

/** What of a feed's past a format needs to go on. */
export interface FeedState {
  /** Items in the file already. */
  readonly sequence: number;
  /** What the format noted for itself: for CSV its columns as a JSON list; empty before the first item. */
  readonly header: string;
}

export interface Rendered {
  readonly text: string;
  readonly header: string;
  /** Fields of items that have no column. */
  readonly dropped: readonly string[];
}

export interface FeedFormat {
  /** The beginning of an empty file. */
  readonly opening: string;
  /** What follows the last item. */
  readonly closing: string;
  /** Whether items can be added to a file that somebody else wrote. */
  readonly appends: boolean;
  /** What a text ends with after which an item can follow, `opening` included. */
  readonly itemEnds: readonly string[];
  /** The header that goes with such a file, from how it begins. */
  adopt(beginning: string): string;
  /** The header to go on with: what the store has kept, unless the file itself says otherwise. */
  resume(beginning: string, header: string): string;
  /** @param items JSON objects (`itemLine`) */
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
 * The format a feed is written in: the named one, else by the file's extension.
 * @throws UsageError for an extension or name that stands for none.
 */
export function feedFormat(file: string, named?: string): FeedFormatName {
  const format = formatOf(named === undefined ? path.extname(file) : `.${named}`);
  if (format !== undefined) return format;
  const known = 'jsonl, json or csv';
  throw new UsageError(
    named === undefined
      ? `${file} does not say its format: end it in .${known.replaceAll(', ', ', .').replace('or ', 'or .')}, or add a colon and one of them.`
      : `"${named}" is not a feed format: use ${known}.`,
  );
}

/** A file as Scrapy's `-o` takes it, `out:csv` for one whose extension does not say its format. */
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
  itemEnds: ['\n'],
  adopt: () => '',
  resume: () => '',
  render: (items) => ({ text: items.map((item) => `${item}\n`).join(''), header: '', dropped: [] }),
};

const json: FeedFormat = {
  opening: '[',
  closing: '\n]\n',
  appends: false,
  itemEnds: ['[', '}'],
  adopt: () => '',
  resume: () => '',
  render: (items, { sequence }) => {
    const text = items.map((item, i) => `${sequence + i === 0 ? '\n' : ',\n'}${item}`).join('');
    return { text, header: '', dropped: [] };
  },
};

/**
 * RFC 4180, with the columns of the first item; a field that comes later has no column, as in Scrapy.
 * @param safe makes a text safe for spreadsheets
 */
const csvFormat = (safe: (text: string) => string): FeedFormat => ({
  opening: '',
  closing: '',
  appends: true,
  itemEnds: ['\n'],
  adopt: (beginning) => headerOf(firstRecord(beginning)),
  resume: (beginning, header) => {
    const [stored, found] = [columnsOf(header), firstRecord(beginning)];
    const isSame = found.length === 0 || headerOf(stored.map(safe)) === headerOf(found);
    return headerOf(isSame ? stored : found);
  },
  render: (texts, { header }) => {
    const items = texts.map((text) => JSON.parse(text) as Record<string, unknown>);
    const columns = header === '' ? firstFields(items) : columnsOf(header);
    if (columns.length === 0) return { text: '', header: '', dropped: [] };
    const rows = items.map((item) =>
      columns.map((column) => cell(Object.hasOwn(item, column) ? item[column] : null, safe)),
    );
    if (header === '') rows.unshift(columns.map(safe));
    const known = new Set(columns);
    const dropped = new Set<string>();
    for (const item of items) for (const field in item) if (!known.has(field)) dropped.add(field);
    return { text: csvText(rows), header: headerOf(columns), dropped: [...dropped] };
  },
});

/** The formats as they are without any option of a feed. */
export const feedFormats: Readonly<Record<FeedFormatName, FeedFormat>> = {
  jsonl,
  json,
  csv: csvFormat((text) => text),
};
const csvForSpreadsheets = csvFormat(escapeFormula);

/** How a file is written. @param escapeFormulas of CSV: no cell is a formula to a spreadsheet */
export function formatFor(name: FeedFormatName, escapeFormulas = false): FeedFormat {
  return name === 'csv' && escapeFormulas ? csvForSpreadsheets : feedFormats[name];
}

const headerOf = (columns: readonly string[]): string =>
  columns.length === 0 ? '' : JSON.stringify(columns);

/** The columns of a header; none where it is no list of texts. */
function columnsOf(header: string): string[] {
  try {
    const columns: unknown = JSON.parse(header);
    return Array.isArray(columns) && columns.every((column) => typeof column === 'string') ? columns : [];
  } catch {
    return [];
  }
}

/** An item without fields has no columns to give; the next one has. */
function firstFields(items: readonly Record<string, unknown>[]): string[] {
  for (const item of items) {
    const fields = Object.keys(item);
    if (fields.length > 0) return fields;
  }
  return [];
}

/** A number is no formula, `-5` included. */
function cell(value: unknown, safe: (text: string) => string): string {
  if (typeof value === 'string') return safe(value);
  return value === null || value === undefined ? '' : JSON.stringify(value);
}
