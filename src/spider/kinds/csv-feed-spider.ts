/** A spider of CSV files. Source: `scrapy.spiders.CSVFeedSpider`. */
import { CrawlnodeError } from '../../errors.js';
import { type CsvFormat, csvRows } from '../../http/csv-rows.js';
import type { CallbackResults } from '../../http/message/request.js';
import type { Response } from '../../http/message/response.js';
import { FeedSpider } from './feed-spider.js';

/** The fields of a row by the names of the columns. */
export type CSVRow = Readonly<Record<string, string>>;

/**
 * Calls `parseRow` with each row of a CSV file.
 * ```ts
 * export default class Stock extends CSVFeedSpider {
 *   name = 'stock';
 *   startUrls = ['https://shop.example/stock.csv'];
 *   delimiter = ';';
 *
 *   parseRow(_response: Response, row: CSVRow) {
 *     return { id: row.id, pieces: Number(row.pieces) };
 *   }
 * }
 * ```
 */
export class CSVFeedSpider extends FeedSpider implements CsvFormat {
  /** Between two fields, such as `;` or `\t`. */
  delimiter = ',';
  /** Around a field that holds a delimiter or a line break. */
  quotechar = '"';
  /** The names of the columns; null takes them from the first row. */
  headers: readonly string[] | null = null;

  /** Called with each row that has as many fields as there are columns. It gives items and requests, as any callback does. */
  parseRow(_response: Response, _row: CSVRow): CallbackResults {
    throw new Error(`the spider "${this.name}" has no method parseRow`);
  }

  protected override readonly missingRecord = 'there is no row';

  protected override async *readRecords(response: Response): AsyncGenerator<() => unknown> {
    if (/^\s*<(?:!doctype\s+html|html)\b/i.test(response.text)) {
      throw new CrawlnodeError('bad_feed', `${response.url}: it is an HTML page, not a CSV file`);
    }
    let { headers } = this;
    let number = 0;
    let isReported = false;
    const leaveOut = (row: number) => {
      this.stats.incValue('feed/rows_left_out');
      if (!isReported)
        this.log.warn({ url: response.url, row }, 'a row of a CSV file has too few or too many fields');
      isReported = true;
    };
    for await (const fields of csvRows(response.text, this, response.maxNodes)) {
      number += 1;
      const row = number;
      if (headers === null) headers = fields;
      else if (fields.length !== headers.length) yield () => leaveOut(row);
      else {
        const record = Object.fromEntries(headers.map((name, at) => [name, fields[at]!]));
        yield () => this.parseRow(response, record);
      }
    }
  }
}
