/** The failed list in Redis: read in pages, retried and purged by id. */
import type { FailedList, FailedRequest } from '../../frontier.js';
import { int } from '../connection/reply.js';
import { pairs } from '../connection/scan.js';
import { numberField, storedObject, textField } from '../crawl/stored-json.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { columnsOf } from '../request-columns.js';

interface Entry {
  readonly id: Buffer;
  readonly atUs: string;
}

export function failedList({ connection, options, call, dupefilter }: CrawlAccess): FailedList {
  const { keys } = options;

  /** What follows the entry a cursor names, by instant and id: entries that go meanwhile shift nothing. */
  async function entriesAfter(cursor: string | null, max: number): Promise<Entry[]> {
    const [from = '-inf', afterId = ''] = (cursor ?? '').split(' ').filter((part) => part !== '');
    const found: Entry[] = [];
    for (let offset = 0; found.length < max; offset += max) {
      const page = ['WITHSCORES', 'LIMIT', offset, max] as const;
      const entries = await connection.patiently((client) =>
        client.zrangebyscoreBuffer(internalKey(keys, 'failed'), from, '+inf', ...page),
      );
      for (const [id, score] of pairs(entries)) {
        const atUs = String(score);
        if (atUs !== from || id.toString('hex') > afterId) found.push({ id, atUs });
      }
      if (entries.length < 2 * max) break;
    }
    return found.slice(0, max);
  }

  /** Three commands for a page, not three for each request. */
  async function read(page: readonly Entry[]): Promise<FailedRequest[]> {
    if (page.length === 0) return [];
    const ids = page.map(({ id }) => id);
    const places = [keys.requests, internalKey(keys, 'failures'), internalKey(keys, 'crashes')];
    const [records = [], reasons = [], crashes = []] = await connection.patiently((client) =>
      Promise.all(places.map((key) => client.hmget(key, ...ids))),
    );
    return page.map(({ id, atUs }, n) => {
      const failure = readFailure(reasons[n], Math.floor(Number(atUs) / 1000));
      // What follows the NUL is not part of the record (`lua/queue/stored-record.lua`).
      const record = records[n]?.split('\0', 1)[0] ?? null;
      return { id: id.toString('hex'), record, ...failure, crashes: Number(crashes[n] ?? failure.crashes) };
    });
  }

  return {
    async list(cursor, max) {
      const entries = await entriesAfter(cursor, max + 1);
      const page = entries.slice(0, max);
      const last = page.at(-1);
      const isLast = entries.length <= max || last === undefined;
      return {
        requests: await read(page),
        cursor: isLast ? null : `${last.atUs} ${last.id.toString('hex')}`,
      };
    },
    async ignored() {
      const entries = await connection.patiently((client) =>
        client.lrange(internalKey(keys, 'ignored'), 0, -1),
      );
      return entries.map((text) => {
        const page = storedObject(text);
        return {
          status: numberField(page, 'status') ?? 0,
          url: textField(page, 'url') ?? '',
          referer: textField(page, 'referer') ?? null,
        };
      });
    },
    async retry(requests) {
      return int(await call('retry_failed', { requests: columnsOf(requests, dupefilter()) }));
    },
    async purge(ids) {
      // A malformed id is none of ours.
      const rawIds = ids.filter((id) => /^[0-9a-f]{40}$/i.test(id)).map((id) => Buffer.from(id, 'hex'));
      return int(await call('purge_failed', { ids: rawIds }));
    },
  };
}

/** What the store keeps of why a request failed; what it does not say has its plain value. */
export function readFailure(
  text: string | null | undefined,
  failedAtMs: number,
): Omit<FailedRequest, 'id' | 'record'> {
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
