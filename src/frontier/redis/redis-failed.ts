/** The failed list in Redis: read in pages, retried and purged by id. */
import type { FailedList, FailedRequest, FrontierRequest } from '../frontier.js';
import { pairs } from './connection/scan.js';
import type { CrawlAccess } from './crawl-access.js';
import { internalKey } from './keys.js';
import { numberField, storedObject, textField } from './read/stored-json.js';
import { columnsOf } from './request-columns.js';

export class RedisFailed implements FailedList {
  readonly #crawl: CrawlAccess;

  constructor(crawl: CrawlAccess) {
    this.#crawl = crawl;
  }

  async list(
    cursor: string | null,
    max: number,
  ): Promise<{ requests: FailedRequest[]; cursor: string | null }> {
    const entries = await this.#after(cursor, max + 1);
    const page = entries.slice(0, max);
    const requests = await this.#read(page);
    const last = page.at(-1);
    const isLast = entries.length <= max || last === undefined;
    return { requests, cursor: isLast ? null : `${last.atUs} ${last.id.toString('hex')}` };
  }

  /** What follows the entry a cursor names, by instant and id: entries that go meanwhile shift nothing. */
  async #after(cursor: string | null, max: number): Promise<{ id: Buffer; atUs: string }[]> {
    const [from = '-inf', afterId = ''] = (cursor ?? '').split(' ').filter((part) => part !== '');
    const found: { id: Buffer; atUs: string }[] = [];
    for (let offset = 0; found.length < max; offset += max) {
      const entries = await this.#crawl.connection.patiently((client) =>
        client.zrangebyscoreBuffer(
          internalKey(this.#crawl.options.keys, 'failed'),
          from,
          '+inf',
          'WITHSCORES',
          'LIMIT',
          offset,
          max,
        ),
      );
      for (const [id, score] of pairs(entries)) {
        const atUs = String(score);
        if (atUs !== from || id.toString('hex') > afterId) found.push({ id, atUs });
      }
      if (entries.length < 2 * max) break;
    }
    return found.slice(0, max);
  }

  async retry(requests: readonly FrontierRequest[]): Promise<number> {
    return Number(
      await this.#crawl.call('retry_failed', { requests: columnsOf(requests, this.#crawl.dupefilter()) }),
    );
  }

  async purge(ids: readonly string[]): Promise<number> {
    // A malformed id is none of ours.
    const rawIds = ids.filter((id) => /^[0-9a-f]{40}$/i.test(id)).map((id) => Buffer.from(id, 'hex'));
    return Number(await this.#crawl.call('purge_failed', { ids: rawIds }));
  }

  /** Three commands for a page, not three for each request. */
  async #read(page: readonly { id: Buffer; atUs: string }[]): Promise<FailedRequest[]> {
    if (page.length === 0) return [];
    const ids = page.map(({ id }) => id);
    const [records, reasons, crashes] = await this.#crawl.connection.patiently((client) =>
      Promise.all([
        client.hmget(this.#crawl.options.keys.requests, ...ids),
        client.hmget(internalKey(this.#crawl.options.keys, 'failures'), ...ids),
        client.hmget(internalKey(this.#crawl.options.keys, 'crashes'), ...ids),
      ]),
    );
    return page.map(({ id, atUs }, n) => {
      const failure = readFailure(reasons[n] ?? null, Math.floor(Number(atUs) / 1000));
      const record = records[n] ?? null;
      return { id: id.toString('hex'), record, ...failure, crashes: Number(crashes[n] ?? failure.crashes) };
    });
  }
}

/** What the store keeps of why a request failed; what it does not say has its plain value. */
export function readFailure(text: string | null, failedAtMs: number): Omit<FailedRequest, 'id' | 'record'> {
  const failure = storedObject(text);
  return {
    reason: textField(failure, 'reason') ?? 'unknown',
    status: numberField(failure, 'status') ?? null,
    attempts: numberField(failure, 'attempts') ?? 0,
    crashes: numberField(failure, 'crashes') ?? 0,
    node: textField(failure, 'node') ?? '',
    failedAtMs,
    detail: textField(failure, 'detail') ?? null,
  };
}
