/**
 * The formats of feed files. A format renders a batch of items, given as JSON texts, into the text to append. The file is
 * complete after every append, because each append ends with `closing`, which the next append overwrites.
 */
import path from 'node:path';
import { UsageError } from '../errors.js';
import { csvText, escapeFormula, firstRecord } from './csv-rows.js';

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

/** The fields of the first item that has any. */
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
