/** Rows of a CSV file (RFC 4180). */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Rows as text, each with its line end. @param rows all of the same length */
export function csvText(rows: readonly (readonly string[])[]): string {
  // Loaded on first use, since most crawls write no CSV.
  const { stringify } = require('csv-stringify/sync') as typeof import('csv-stringify/sync');
  return stringify(rows as string[][], {
    record_delimiter: '\r\n',
    // csv-stringify looks for the record delimiter as a whole; a lone CR or LF breaks a line as well.
    quoted_match: /[\r\n]/,
    // A row of one empty cell would be an empty line, which readers skip.
    quoted_empty: rows[0]?.length === 1,
  });
}

/** The first record of a CSV text: the columns of the file. None for an empty line. */
export function firstRecord(text: string): string[] {
  const cells: string[] = [];
  const matcher = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  matcher.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  for (let match = matcher.exec(text); match !== null; match = matcher.exec(text)) {
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] !== ',') break;
  }
  return cells.length === 1 && cells[0] === '' ? [] : cells;
}

/** The characters that begin a formula in a spreadsheet, also in full width (OWASP, "CSV Injection"). */
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/** Make a text safe for spreadsheets: an apostrophe before a formula, as OWASP advises. */
export function escapeFormula(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}
