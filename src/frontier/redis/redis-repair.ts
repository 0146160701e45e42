/** Repair in Redis: the indexes are forgotten, then every record is walked over and put where it belongs. */
import type { Frontier, RecordedRequest, Repaired } from '../frontier.js';
import { nodesAtWork } from '../nodes-at-work.js';
import type { OpenOptions } from '../open.js';
import { type Argument, packPriority, withoutNul } from './batch.js';
import type { Call } from './calls.js';
import type { RedisConnection } from './connection.js';
import { newEpoch } from './joining.js';
import { repairDupefilter } from './redis-verify-dupefilter.js';
import { int, type Reply, text } from './reply.js';
import { type Ask, walk } from './walk.js';

/** Records of one step: a script of some ms. */
const STEP = 500;
const UNREADABLE = 0xffff;
const UNREADABLE_FAILURE = JSON.stringify({
  reason: 'bad_record',
  attempts: 0,
  detail: 'its record could not be read when the crawl was repaired',
});

export async function repairRedis(
  connection: RedisConnection,
  { keys, shape }: OpenOptions,
  call: Call,
  read: Parameters<Frontier['repair']>[0],
  force: boolean,
): Promise<Repaired> {
  const [status, live] = (await call('repair-begin', [
    force ? 1 : 0,
    shape.queueClass,
    newEpoch(),
  ])) as Reply[];
  if (text(status) === 'live') throw nodesAtWork(int(live), 'repair');
  // A walk meets a record twice when the hash is resized meanwhile; the script passes over what it knows.
  const arrivalOf = distinctArrivals();
  const ask: Ask = (question) => connection.patiently(question);
  const pages = walk(ask, (client, cursor) => client.hscanBuffer(keys.requests, cursor, 'COUNT', STEP));
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += 2 * STEP) {
      await call('repair-requeue', pack(page.slice(at, at + 2 * STEP), read, arrivalOf));
    }
  }
  await connection.patiently((client) => repairDupefilter(client, keys));
  const [pending, delayed, failed] = (await call('repair-end', [])) as Reply[];
  return { pending: int(pending), delayed: int(delayed), failed: int(failed) };
}

/** @param page ids and records by turns. */
function pack(
  page: readonly Buffer[],
  read: Parameters<Frontier['repair']>[0],
  arrivalOf: (ms: number) => number,
): Argument[] {
  const ids: Buffer[] = [];
  const numbers: Buffer[] = [];
  const indexes = new Map<string, number>();
  for (let at = 0; at + 1 < page.length; at += 2) {
    const [id, record] = [page[at] as Buffer, page[at + 1] as Buffer];
    // A field that is no id was put there by hand.
    if (id.length !== 20) continue;
    const found = read(id.toString('hex'), record.toString());
    ids.push(id);
    numbers.push(pack14(found, indexes, arrivalOf));
  }
  const names = [...indexes.keys()].map((name) => `${name}\0`).join('');
  return [Buffer.concat(ids), Buffer.concat(numbers), names, UNREADABLE_FAILURE];
}

function pack14(
  found: RecordedRequest | null,
  indexes: Map<string, number>,
  arrivalOf: (ms: number) => number,
): Buffer {
  const rest = Buffer.alloc(9);
  if (found === null) {
    rest.writeUInt16BE(UNREADABLE, 0);
    return Buffer.concat([packPriority(0), rest]);
  }
  const name = withoutNul(found.domain);
  const index = indexes.get(name) ?? indexes.size;
  indexes.set(name, index);
  rest.writeUInt16BE(index, 0);
  const arrival = arrivalOf(Math.max(0, Math.floor(found.acceptedAtMs)));
  rest.writeUIntBE(Math.floor(arrival / 2 ** 32), 2, 3);
  rest.writeUInt32BE(arrival % 2 ** 32, 5);
  return Buffer.concat([packPriority(found.priority), rest]);
}

/**
 * Arrivals in µs for requests of which the ms is known, no two alike: the chunks of a queue are told apart by the order
 * of their first request, so that equals at the edge of two would have one written over the other.
 */
function distinctArrivals(): (ms: number) => number {
  const given = new Map<number, number>();
  return (ms) => {
    let at = ms;
    while ((given.get(at) ?? 0) >= 1000) at += 1;
    const count = given.get(at) ?? 0;
    given.set(at, count + 1);
    return at * 1000 + count;
  };
}
