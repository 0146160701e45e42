/** The state of one request of a crawl in Redis. Reads only. */
import type { Dupefilter, FrontierRequest, Inspection, RequestState } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import type { Client } from '../connection/client.js';
import type { RedisConnection } from '../connection/connection.js';
import { pairs, walk } from '../connection/scan.js';
import { type InternalWord, internalKey } from '../keys.js';
import { readFailure } from '../redis-failed.js';
import { askDupefilter } from './dupefilter.js';
import { readDomain, readEntry, readLease } from './records.js';

/** The state of a request. A delayed request is found by a scan of all delayed ones, which are few. */
export async function inspectRequest(
  connection: RedisConnection,
  keys: FrontierKeys,
  dupefilter: Dupefilter,
  request: FrontierRequest,
): Promise<Inspection> {
  const { seen, life } = await askDupefilter(connection, keys, dupefilter, request);
  const places = await connection.patiently((client) => lookInPlaces(client, keys, request));
  return { ...places, state: places.state ?? (seen ? 'seen' : 'unknown'), seen, life };
}

type Places = Omit<Inspection, 'state' | 'seen' | 'life'> & {
  /** Null where it is in no state. */
  readonly state: RequestState | null;
};

async function lookInPlaces(client: Client, keys: FrontierKeys, request: FrontierRequest): Promise<Places> {
  const id = Buffer.from(request.id, 'hex');
  const key = (word: InternalWord): string => internalKey(keys, word);
  const [record, packed, failedAtUs, why, crashes] = await Promise.all([
    client.hget(keys.requests, id),
    client.hgetBuffer(key('leases'), id),
    client.zscore(key('failed'), id),
    client.hget(key('failures'), id),
    client.hget(key('crashes'), id),
  ]);
  const lease = packed === null ? null : readLease(packed);
  const isWaiting = record !== null && lease === null && failedAtUs === null;
  const delayedUntilMs = isWaiting ? await dueAtOf(client, keys, id) : null;
  const isPending = isWaiting && delayedUntilMs === null;
  const state = lease
    ? 'leased'
    : failedAtUs !== null
      ? 'failed'
      : delayedUntilMs !== null
        ? 'delayed'
        : isPending
          ? 'pending'
          : null;
  return {
    state,
    record,
    crashes: Number(crashes ?? 0),
    owner: lease?.node ?? null,
    leasedAtMs: lease?.atMs ?? null,
    dueAtMs: isPending ? await domainOpensAt(client, keys, request.domain) : delayedUntilMs,
    failure: failedAtUs === null ? null : readFailure(why, Math.floor(Number(failedAtUs) / 1000)),
  };
}

/** When a waiting domain may be leased from again; null when it need not wait. */
async function domainOpensAt(client: Client, keys: FrontierKeys, domain: string): Promise<number | null> {
  const [packed, time] = await Promise.all([
    client.hgetBuffer(internalKey(keys, 'domains'), domain),
    client.time(),
  ]);
  const nowMs = Number(time[0]) * 1000 + Number(time[1]) / 1000;
  const dueAtMs = packed === null ? 0 : readDomain(packed).dueAtMs;
  return dueAtMs > nowMs ? dueAtMs : null;
}

async function dueAtOf(client: Client, keys: FrontierKeys, id: Buffer): Promise<number | null> {
  const pages = walk(
    (question) => question(client),
    (from, cursor) => from.zscanBuffer(internalKey(keys, 'delayed'), cursor, 'COUNT', 1000),
  );
  for await (const page of pages) {
    const found = pairs(page).find(([entry]) => readEntry(entry).id.equals(id));
    if (found !== undefined) return Number(found[1]);
  }
  return null;
}
