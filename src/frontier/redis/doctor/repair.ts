/** Repair in Redis: deletes the indexes, then rebuilds them from all records (`lua/doctor/`). */
import type { Frontier, Repaired } from '../../frontier.js';
import { nodesAtWork } from '../../refusals.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, json } from '../connection/reply.js';
import { type Ask, pairs, walk } from '../connection/scan.js';
import type { CrawlAccess } from '../crawl-access.js';
import { newEpoch } from '../nodes/join.js';
import { domainName } from '../request-columns.js';
import { repairPieces } from './dupefilter-pieces.js';

/** Records of one step: a call of some ms. */
const STEP = 500;
const ID_BYTES = 20;
const unreadable = JSON.stringify({
  reason: 'bad_record',
  attempts: 0,
  detail: 'its record could not be read when the crawl was repaired',
});

export async function repairRedis(
  { connection, options: { keys, shape }, call }: CrawlAccess,
  read: Parameters<Frontier['repair']>[0],
  force: boolean,
): Promise<Repaired> {
  const args = { force, queueClass: shape.queueClass, epoch: newEpoch() };
  const live = int(await call('repair_begin', args));
  if (live > 0) throw nodesAtWork(live, 'repair');
  // HSCAN may return a record twice when the hash is resized meanwhile. The verb ignores the second one.
  const ask: Ask = (question) => connection.patiently(question);
  const pages = walk(ask, (client, cursor) => client.hscanBuffer(keys.requests, cursor, 'COUNT', STEP));
  for await (const page of pages) {
    // A field that is not an id was added by hand.
    const rows = pairs(page).filter(([id]) => id.length === ID_BYTES);
    const requests = rows.map(([id, record]) => requestArguments(id, record, read));
    await call('repair_requeue', { requests, unreadable });
  }
  await ask((client) => repairPieces(client, keys));
  return json<Repaired>(await call('repair_end', {}));
}

function requestArguments(id: Buffer, record: Buffer, read: Parameters<Frontier['repair']>[0]): Arguments {
  const found = read(id.toString('hex'), record.toString());
  if (found === null) return { id };
  const arrival = Math.max(0, Math.floor(found.acceptedAtMs)) * 1000;
  return { id, domain: domainName(found.domain), priority: found.priority, arrival };
}
