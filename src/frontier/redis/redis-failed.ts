/** The failed list in Redis: read in pages, retried and purged by id. */
import type { FailedList, FailedRequest, FrontierRequest } from '../frontier.js';
import type { FrontierKeys } from '../open.js';
import { type Argument, packBatch } from './batch.js';
import type { RedisConnection, Reply } from './connection.js';
import { internalKey } from './keys.js';
import type { Verb } from './scripts.js';

export class RedisFailed implements FailedList {
  readonly #connection: RedisConnection;
  readonly #keys: FrontierKeys;
  readonly #call: (verb: Verb, args: readonly Argument[]) => Promise<Reply>;

  constructor(
    connection: RedisConnection,
    keys: FrontierKeys,
    call: (verb: Verb, args: readonly Argument[]) => Promise<Reply>,
  ) {
    this.#connection = connection;
    this.#keys = keys;
    this.#call = call;
  }

  async list(
    cursor: string | null,
    max: number,
  ): Promise<{ requests: FailedRequest[]; cursor: string | null }> {
    const start = Number(cursor ?? 0);
    const entries = await this.#connection.patiently((client) =>
      client.zrangeBuffer(internalKey(this.#keys, 'failed'), start, start + max - 1, 'WITHSCORES'),
    );
    const requests: FailedRequest[] = [];
    for (let i = 0; i + 1 < entries.length; i += 2) {
      const id = entries[i] as Buffer;
      requests.push(await this.#read(id, Math.floor(Number(entries[i + 1]) / 1000)));
    }
    return { requests, cursor: requests.length === max ? String(start + max) : null };
  }

  async retry(requests: readonly FrontierRequest[]): Promise<number> {
    const { head, records } = packBatch(requests);
    return Number(await this.#call('retry-failed', [requests.length, ...head, ...records]));
  }

  async purge(ids: readonly string[]): Promise<number> {
    return Number(await this.#call('purge-failed', [Buffer.from(ids.join(''), 'hex')]));
  }

  async #read(id: Buffer, failedAtMs: number): Promise<FailedRequest> {
    const [record, why, crashes] = await this.#connection.patiently((client) =>
      Promise.all([
        client.hget(this.#keys.requests, id),
        client.hget(internalKey(this.#keys, 'failures'), id),
        client.hget(internalKey(this.#keys, 'crashes'), id),
      ]),
    );
    const failure = JSON.parse(why ?? '{}') as Partial<FailedRequest>;
    return {
      id: id.toString('hex'),
      record,
      reason: failure.reason ?? 'unknown',
      status: failure.status ?? null,
      attempts: failure.attempts ?? 0,
      crashes: Number(crashes ?? failure.crashes ?? 0),
      node: failure.node ?? '',
      failedAtMs,
      detail: failure.detail ?? null,
    };
  }
}
