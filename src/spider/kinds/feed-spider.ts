/** The base of feed spiders: reading a file record by record, in parts that fit a commit, up to a damaged place. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CrawlnodeError, messageOf, UsageError } from '../../errors.js';
import { type CbKwargs, Request, type Yielded } from '../../http/message/request.js';
import { Response } from '../../http/message/response.js';
import { TooComplexError } from '../../http/node-budget.js';
import { resultsOf, resultsOfCall } from '../callback-results.js';
import { Spider } from '../spider.js';

/** After this many records of a long feed, the node may do other work. */
const RECORDS_PER_TURN = 500;
/** The results of one page that are committed together, in all and in bytes of JSON: half of what a commit takes. */
const MAX_RESULTS = 5_000;
const MAX_RESULT_BYTES = 4 * 1024 * 1024;
/** Each part reads the feed from its beginning, so their number is bounded. */
const MAX_PARTS = 200;

/**
 * The base class of `XMLFeedSpider` and `CSVFeedSpider`; extend one of them. The results of a feed are committed in parts of
 * about 5,000: a longer feed is requested again for its next records, at most 200 times.
 */
export abstract class FeedSpider extends Spider {
  /** Called with the response before it is read. It may return another one, for example with a repaired body. */
  adaptResponse(response: Response): Response | Promise<Response> {
    return response;
  }

  /** Called with the results of each record. It returns those to keep, changed or not. */
  processResults(_response: Response, results: readonly unknown[]): unknown {
    return results;
  }

  override async *parse(
    response: Response,
    cbKwargs: CbKwargs = {},
  ): AsyncGenerator<Yielded, void, undefined> {
    const first: number = cbKwargs.firstRecord ?? 0;
    const adapted = await this.adaptResponse(response);
    if (!(adapted instanceof Response)) throw new UsageError('adaptResponse() returned no Response');
    const part = new FeedPart(this.settings.MAX_ITEMS_PER_PAGE);
    let at = 0;
    for await (const parseRecord of this.#readable(adapted)) {
      if (at >= first && part.isFull) {
        yield this.#nextPart(response, at);
        return;
      }
      at += 1;
      if (at % RECORDS_PER_TURN === 0) await nextTurn();
      if (at <= first) continue;
      const results: unknown[] = [];
      for await (const result of resultsOfCall(parseRecord)) results.push(result);
      const processed = await this.processResults(adapted, results);
      if (processed === undefined) {
        throw new UsageError(
          'processResults() returned nothing: return the results to keep, or an empty list',
        );
      }
      for await (const result of resultsOf(processed)) {
        part.add(result);
        yield result as Yielded;
      }
    }
    if (at > 0) return;
    this.stats.incValue('feed/empty');
    this.log.warn({ url: response.url }, `a feed has no record: ${this.missingRecord}`);
  }

  /** What a feed without a record lacks. */
  protected abstract readonly missingRecord: string;

  /** Calls of the method for one record each, in the order of the feed. */
  protected abstract readRecords(response: Response): Iterable<() => unknown> | AsyncIterable<() => unknown>;

  /** The records up to a damaged place. */
  async *#readable(response: Response): AsyncGenerator<() => unknown> {
    let read = 0;
    try {
      for await (const record of this.readRecords(response)) {
        read += 1;
        yield record;
      }
    } catch (error) {
      const isDamage = error instanceof CrawlnodeError && !(error instanceof TooComplexError);
      if (read === 0 || !isDamage) throw error;
      this.stats.incValue('feed/damaged');
      this.log.warn(
        { url: response.url, records: read, error: messageOf(error) },
        'a feed is damaged; the records before the damage are taken',
      );
    }
  }

  /** With dontFilter, since it is the same request again. */
  #nextPart(response: Response, firstRecord: number): Request | null {
    const { part = 1 } = response.cbKwargs;
    if (part >= MAX_PARTS) {
      this.stats.incValue('feed/too_long');
      this.log.warn(
        { url: response.url, records: firstRecord },
        'the feed is too long; the rest is not read',
      );
      return null;
    }
    return response.request.replace({
      ...{ dontFilter: true, attempts: 0, redirects: 0 },
      cbKwargs: { ...response.cbKwargs, firstRecord, part: part + 1 },
    });
  }
}

/** Counts the results of one page. */
class FeedPart {
  readonly #maxResults: number;
  #results = 0;
  #bytes = 0;

  /** @param maxItems MAX_ITEMS_PER_PAGE; undefined in a test without settings */
  constructor(maxItems: number | undefined) {
    this.#maxResults = Math.min(MAX_RESULTS, Math.ceil((maxItems ?? MAX_RESULTS * 2) / 2));
  }

  get isFull(): boolean {
    return this.#results >= this.#maxResults || this.#bytes >= MAX_RESULT_BYTES;
  }

  add(result: unknown): void {
    this.#results += 1;
    if (!(result instanceof Request)) this.#bytes += jsonBytes(result);
  }
}

/** 0 for what is no JSON, which the check of items refuses. */
function jsonBytes(item: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(item) ?? '');
  } catch {
    return 0;
  }
}
