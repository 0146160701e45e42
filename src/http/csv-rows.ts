/** The rows of a CSV text, one after the other. The input is untrusted: a row is bounded, and a damaged one ends the reading. */
import { CrawlnodeError, messageOf } from '../errors.js';
import { NodeBudget } from './node-budget.js';

/** How a CSV text is written. */
export interface CsvFormat {
  /** Between two fields, such as `,` or `\t`. */
  readonly delimiter: string;
  /** Around a field that holds a delimiter or a line break. Within the field it is doubled. */
  readonly quotechar: string;
}

/** Characters parsed before their rows are yielded. */
const SLICE = 64 * 1024;
/** Bytes of one row. A quote that is never closed makes the rest of the text one row. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;
/** csv-parse creates an error for a row that is longer or shorter than the first one, which takes as long as so many fields. */
const ODD_ROW_FIELDS = 20;

/**
 * Yields the fields of each row; empty lines are skipped. A quote within an unquoted field is part of its text, as in Python's csv.
 * @param maxNodes DOWNLOAD_MAX_NODES: there may be four times as many fields; a row of another length than the first one counts as more
 * @throws CrawlnodeError `bad_feed`, after the rows before a row that cannot be read; TooComplexError
 */
export async function* csvRows(
  text: string,
  { delimiter, quotechar }: CsvFormat,
  maxNodes?: number,
): AsyncGenerator<string[]> {
  const budget = NodeBudget.ofValues('fields', maxNodes);
  const { parse } = await import('csv-parse');
  // The rows are collected as they are parsed: an error of the stream would drop those that it still holds.
  let rows: string[][] = [];
  const parser = parse({
    ...{ delimiter, quote: quotechar, escape: quotechar, max_record_size: MAX_ROW_BYTES },
    ...{ bom: true, relax_quotes: true, relax_column_count: true, skip_empty_lines: true },
    on_record: (row: string[]) => {
      rows.push(row);
      return null;
    },
  });
  let error: Error | null = null;
  parser.on('error', (reason) => {
    error = reason;
  });
  parser.resume();
  let columns: number | null = null;
  for (let at = 0; at <= text.length && error === null; at += SLICE) {
    const slice = text.slice(at, at + SLICE);
    await new Promise<void>((resolve) => {
      if (at + SLICE <= text.length) parser.write(slice, () => resolve());
      else parser.end(slice, () => resolve());
    });
    for (const row of rows) {
      columns ??= row.length;
      budget.spend(row.length === columns ? row.length : row.length + ODD_ROW_FIELDS);
      yield row;
    }
    rows = [];
  }
  if (error !== null) {
    throw new CrawlnodeError('bad_feed', `the CSV cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
