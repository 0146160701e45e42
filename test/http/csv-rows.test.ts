/** Rows of a CSV text, as files of the web are written. */
import { describe, expect, it } from 'vitest';
import { csvRows } from '../../src/http/csv-rows.js';

async function rowsOf(text: string, delimiter = ',', quotechar = '"') {
  const rows: unknown[] = [];
  try {
    for await (const row of csvRows(text, { delimiter, quotechar })) rows.push(row);
  } catch (error) {
    rows.push((error as Error & { code: string }).code);
  }
  return rows;
}

describe('a CSV text', () => {
  it('has its rows read, with quotes, line breaks of any kind and empty lines', async () => {
    expect(await rowsOf('\uFEFFa,b\r\n1,"x ""y"", z"\r\n\r\n2,"line\nbreak"\r\n')).toEqual([
      ['a', 'b'],
      ['1', 'x "y", z'],
      ['2', 'line\nbreak'],
    ]);
    expect(await rowsOf("a;b\n1;'x;y'", ';', "'")).toEqual([
      ['a', 'b'],
      ['1', 'x;y'],
    ]);
    expect(await rowsOf('a\tb\n5" pipe\t2', '\t')).toEqual([
      ['a', 'b'],
      ['5" pipe', '2'],
    ]);
    expect(await rowsOf('')).toEqual([]);
  });

  it('is read up to a row that cannot be read', async () => {
    expect(await rowsOf('a,b\n1,2\n3,"never closed\n4,5')).toEqual([['a', 'b'], ['1', '2'], 'bad_feed']);
    const endless = `a\n1\n"${'x'.repeat(5 * 1024 * 1024)}`;
    expect(await rowsOf(endless)).toEqual([['a'], ['1'], 'bad_feed']);
  });

  it('may have any number of rows', async () => {
    let count = 0;
    for await (const _ of csvRows('1,2\n'.repeat(200_000), { delimiter: ',', quotechar: '"' })) count += 1;
    expect(count).toBe(200_000);
  });
});
