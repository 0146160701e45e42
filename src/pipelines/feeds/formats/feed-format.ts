/**
 * The formats of feed files. A format renders a batch of items, given as JSON texts, into the text to append. The file is
 * complete after every append, because each append ends with `closing`, which the next append overwrites.
 */
import path from 'node:path';
import { UsageError } from '../../../errors.js';
import { csvText, escapeFormula, firstRecord } from './csv.js';
import { gunzipPart, gzipMember } from './gzip.js';
import { xmlItem } from './xml.js';

type Item = Readonly<Record<string, unknown>>;

type TextFormat = 'jsonl' | 'json' | 'csv' | 'xml';

/** A format, with `.gz` for a file of gzip members. */
export type FeedFormatName = TextFormat | `${TextFormat}.gz`;

/** Options of a feed that change what is written. */
export interface FeedLayout {
  /** For CSV: no cell may be a formula in a spreadsheet. */
  readonly escapeFormulas?: boolean;
  /** Field of an item → its name in the file, in this order; other fields are left out. Null: all fields as they are. */
  readonly fields?: Readonly<Record<string, string>> | null;
  /** Of JSON and XML: spaces of a level; 0: one item a line. */
  readonly indent?: number;
}

/** A feed file, as the command line or FEEDS describe it, and as it is recorded. */
export interface FeedDescription extends FeedLayout {
  /** Absolute. */
  readonly path: string;
  readonly format: FeedFormatName;
  /** `store_empty`; false: a file without an item is removed when its writer ends. */
  readonly storeEmpty?: boolean;
  /** `batch_item_count`: the name of the feed has `%(batch_id)d` then. */
  readonly batchItems?: number;
  /** `item_filter`: the path of its module; null for none. */
  readonly itemFilter?: string | null;
}

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
  /** Fields that have no column, and how many items have such a field. */
  readonly leftOut?: { readonly fields: readonly string[]; readonly items: number };
  /** The fields of the layout that none of these items has; without a layout there are none to miss. */
  readonly absent?: readonly string[];
}

export interface FeedFormat {
  /** The text before the first item. */
  readonly opening: string;
  /** The text after the last item. */
  readonly closing: string;
  /** Why no items can be appended to a file that this job did not write; null where they can. */
  readonly appendsNot: string | null;
  /** What a file to which items can be appended begins with. */
  readonly begins?: RegExp;
  /** The end of a file after which an item can follow, `opening` included; null when this cannot be determined. */
  readonly itemEnds: readonly string[] | null;
  /** A text as it stands in the file. */
  encode(text: string): Buffer;
  /** Decode bytes of the file that start at the beginning of a text, as far as possible; null when they contain none. */
  decode(bytes: Buffer): Buffer | null;
  /** The header of an existing file, read from its beginning. */
  adopt(beginning: string): string;
  /** The header to continue with: the one in the store, unless the file itself shows another. */
  resume(beginning: string, header: string): string;
  /**
   * The columns of the file when none of them fits these items, so that their rows would be empty; null when the items can
   * follow.
   */
  misfit?(items: readonly string[], state: FeedState): readonly string[] | null;
  /** @param items JSON objects (`itemLine`) */
  render(items: readonly string[], state: FeedState): Rendered;
}

const byExtension: Readonly<Record<string, TextFormat>> = {
  '.jsonl': 'jsonl',
  '.jl': 'jsonl',
  '.ndjson': 'jsonl',
  '.jsonlines': 'jsonl',
  '.json': 'json',
  '.csv': 'csv',
  '.xml': 'xml',
};

const asItIs = { encode: (text: string) => Buffer.from(text), decode: (bytes: Buffer) => bytes };

/**
 * The format of a feed: the given one, else that of the file extension. `.gz` behind either compresses.
 * @throws UsageError for an unknown extension or format.
 */
export function feedFormat(file: string, named?: string): FeedFormatName {
  const isGzip = /\.gz$/i.test(file);
  const plain = isGzip ? file.slice(0, -'.gz'.length) : file;
  const format = formatOf(named === undefined ? path.extname(plain) : `.${named}`);
  if (format !== undefined) return isGzip && !isCompressed(format) ? `${format}.gz` : format;
  throw new UsageError(
    named === undefined
      ? `${file} does not say its format: end it in .jsonl, .json, .csv or .xml, each also with .gz, or add a colon and the format.`
      : `"${named}" is not a feed format: use jsonl, json, csv or xml.`,
  );
}

/** The same format, compressed. */
export function compressed(format: FeedFormatName): FeedFormatName {
  return isCompressed(format) ? format : `${format}.gz`;
}

/** Parse a file name as Scrapy's `-o` does: `out:csv` gives the format of a file without an extension. */
export function namedFeed(text: string): { readonly file: string; readonly format?: string } {
  const [, file, format] = /^(.+):(\w+)$/.exec(text) ?? [];
  return file === undefined || formatOf(`.${format}`) === undefined
    ? { file: text }
    : { file, format: format! };
}

function isCompressed(format: FeedFormatName): format is `${TextFormat}.gz` {
  return format.endsWith('.gz');
}

function formatOf(extension: string): TextFormat | undefined {
  const lower = extension.toLowerCase();
  return Object.hasOwn(byExtension, lower) ? byExtension[lower] : undefined;
}

const jsonl: FeedFormat = {
  ...asItIs,
  opening: '',
  closing: '',
  appendsNot: null,
  begins: /^\uFEFF?\s*(?:\{|$)/,
  itemEnds: ['\n'],
  adopt: () => '',
  resume: () => '',
  render: (items) => ({ text: items.map((item) => `${item}\n`).join(''), header: '' }),
};

/** @param indent spaces of a level */
const jsonFormat = (indent: number): FeedFormat => ({
  ...asItIs,
  opening: '[',
  closing: '\n]\n',
  appendsNot: 'a JSON list',
  itemEnds: ['[', '}'],
  adopt: () => '',
  resume: () => '',
  render: (items, { sequence }) => {
    const shown = indent === 0 ? (item: string) => item : (item: string) => indented(item, indent);
    const text = items.map((item, i) => `${sequence + i === 0 ? '\n' : ',\n'}${shown(item)}`).join('');
    return { text, header: '' };
  },
});

function indented(item: string, indent: number): string {
  const indentation = ' '.repeat(indent);
  return indentation + JSON.stringify(JSON.parse(item), null, indent).replaceAll('\n', `\n${indentation}`);
}

/** @param indent spaces of a level */
const xmlFormat = (indent: number): FeedFormat => ({
  ...asItIs,
  opening: '<?xml version="1.0" encoding="utf-8"?>\n<items>',
  closing: '\n</items>\n',
  appendsNot: 'an XML document',
  itemEnds: ['>'],
  adopt: () => '',
  resume: () => '',
  render: (items) => ({
    text: items.map((item) => `\n${xmlItem(JSON.parse(item), indent)}`).join(''),
    header: '',
  }),
});

/**
 * RFC 4180, with the columns of the first item; a field that comes later has no column, as in Scrapy.
 * @param safe makes a text safe for spreadsheets @param fixed columns that do not come from the first item
 */
const csvFormat = (safe: (text: string) => string, fixed: readonly string[] = []): FeedFormat => ({
  ...asItIs,
  opening: '',
  closing: '',
  appendsNot: null,
  begins: /^\uFEFF?\s*(?:[^\s{[<]|$)/,
  itemEnds: ['\n'],
  adopt: (beginning) => headerOf(firstRecord(beginning)),
  resume: (beginning, header) => {
    const [stored, found] = [columnsOf(header), firstRecord(beginning)];
    const isSame = found.length === 0 || headerOf(stored.map(safe)) === headerOf(found);
    return headerOf(isSame ? stored : found);
  },
  misfit: (texts, { header }) => {
    const columns = columnsOf(header);
    const fields = firstFields(texts.map((text) => JSON.parse(text) as Item));
    return columns.length === 0 || fields.length === 0 || fields.some((field) => columns.includes(field))
      ? null
      : columns;
  },
  render: (texts, { header }) => {
    const items = texts.map((text) => JSON.parse(text) as Item);
    const columns = header !== '' ? columnsOf(header) : fixed.length > 0 ? fixed : firstFields(items);
    if (columns.length === 0) return { text: '', header: '' };
    const rows = items.map((item) =>
      columns.map((column) => cell(Object.hasOwn(item, column) ? item[column] : null, safe)),
    );
    if (header === '') rows.unshift(columns.map(safe));
    const columnSet = new Set(columns);
    const extra = items.map((item) => Object.keys(item).filter((field) => !columnSet.has(field)));
    const incomplete = extra.filter((fields) => fields.length > 0);
    const leftOut = { fields: [...new Set(incomplete.flat())], items: incomplete.length };
    return { text: csvText(rows), header: headerOf(columns), ...(incomplete.length > 0 && { leftOut }) };
  },
});

const textFormats: Readonly<Record<TextFormat, (layout: FeedLayout) => FeedFormat>> = {
  jsonl: () => jsonl,
  json: ({ indent = 0 }) => jsonFormat(indent),
  csv: ({ escapeFormulas = false, fields }) =>
    csvFormat(escapeFormulas ? escapeFormula : (text) => text, Object.values(fields ?? {})),
  xml: ({ indent = 0 }) => xmlFormat(indent),
};

/** The formats as they are without any option of a feed. */
export const feedFormats: Readonly<Record<TextFormat, FeedFormat>> = {
  jsonl,
  json: jsonFormat(0),
  csv: textFormats.csv({}),
  xml: xmlFormat(0),
};

/** How a file is written. */
export function formatFor(name: FeedFormatName, layout: FeedLayout = {}): FeedFormat {
  const text = textFormats[name.replace(/\.gz$/, '') as TextFormat](layout);
  const format = layout.fields ? withFields(text, layout.fields) : text;
  return isCompressed(name) ? inGzip(format) : format;
}

function inGzip(format: FeedFormat): FeedFormat {
  // Unpacking the whole file only to check whether its last line is complete is not worth it.
  const appendsNot = 'a gzip file';
  return { ...format, appendsNot, itemEnds: null, encode: gzipMember, decode: gunzipPart };
}

/** Items with these fields only, under the names and in the order given. */
function withFields(format: FeedFormat, fields: Readonly<Record<string, string>>): FeedFormat {
  const picked = (item: Item) => {
    const present = Object.entries(fields).filter(([field]) => Object.hasOwn(item, field));
    return JSON.stringify(Object.fromEntries(present.map(([field, name]) => [name, item[field]])));
  };
  return {
    ...format,
    misfit: (texts, state) =>
      format.misfit?.(
        texts.map((text) => picked(JSON.parse(text))),
        state,
      ) ?? null,
    render: (texts, state) => {
      const items = texts.map((text) => JSON.parse(text) as Item);
      const absent = Object.keys(fields).filter((field) => !items.some((item) => Object.hasOwn(item, field)));
      return { ...format.render(items.map(picked), state), absent };
    },
  };
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
function firstFields(items: readonly Item[]): string[] {
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

/** `%(batch_id)d` in a name, perhaps with a width that is filled with zeros, as Python has it. */
export const BATCH_ID = /%\(batch_id\)(\d*)d/g;

/** The path of one file of a feed in batches. */
export function batchPath(template: string, batch: number): string {
  return template.replace(BATCH_ID, (_, width: string) =>
    String(batch).padStart(Number(width), width.startsWith('0') ? '0' : ' '),
  );
}
