/** Reads the crawl and its live requests, in all states, for a backup. */
import { type BackupEntry, type BackupRequest, inEntries } from '../../backup/entry.js';
import type { Shape } from '../../frontier.js';
import type { FrontierKeys } from '../../open-options.js';
import { repliesOf } from '../connection/client.js';
import { type Ask, pairs } from '../connection/scan.js';
import { internalKey } from '../keys.js';
import { type QueueEntry, readEntry, readLease, readMember } from '../read/records.js';

/** Requests of one reply. */
const WINDOW = 1_000;
const RANK_BYTES = 5;
/** The arrival that LIFO counts down from (`lua/queue/queue.lua`). */
const NEWEST = 2 ** 53;

/** The crawl as a whole, then its requests. No entry where there is no crawl. */
export async function* readCrawl(ask: Ask, keys: FrontierKeys): AsyncIterable<BackupEntry> {
  // Read atomically and before the queues, so that a request that is leased or released meanwhile is not missed.
  const leases = await leased(ask, internalKey(keys, 'leases'));
  const meta = await ask((client) => client.hgetall(internalKey(keys, 'meta')));
  if (meta.version === undefined) return;
  const queueClass = meta.queue as Shape['queueClass'];
  yield {
    kind: 'crawl',
    queueClass,
    shape: meta.shape ? (JSON.parse(meta.shape) as Omit<Shape, 'dupefilter'>) : null,
    start: startOf(meta.start),
    ...startsOf(meta),
    done: Number(meta.done ?? 0),
    removed: Number(meta.removed ?? 0),
    lost: Number(meta.lost ?? 0),
    beganAtMs: Number(meta.began) || null,
    seenSinceMs: Number(meta.seen_since ?? meta.began) || null,
  };
  async function* pages(): AsyncIterable<Waiting[]> {
    yield* queued(ask, internalKey(keys, 'queue'));
    yield* suspects(ask, internalKey(keys, 'suspects'));
    yield* delayed(ask, internalKey(keys, 'delayed'));
    yield leases;
  }
  const size = ({ record }: BackupRequest): number => record.length + 200;
  for await (const values of inEntries(withRecords(ask, keys, queueClass, pages()), size)) {
    yield { kind: 'requests', values };
  }
}

/** An entry of the queue; a delayed one with its due time. */
type Waiting = QueueEntry & { readonly dueAtMs?: number };

async function leased(ask: Ask, key: string): Promise<Waiting[]> {
  const replies = await ask((client) => repliesOf(client.multi().hkeysBuffer(key).hvalsBuffer(key)));
  const [ids = [], leases = []] = replies as Buffer[][];
  return ids.map((id, n) => ({ id, ...readLease(leases[n] as Buffer) }));
}

/** Each page begins after the last member of the one before it. */
async function* queued(ask: Ask, key: string): AsyncIterable<Waiting[]> {
  let from: string | Buffer = '-';
  for (;;) {
    const start = from;
    const page: Buffer[] = await ask((client) =>
      client.zrangebylexBuffer(key, start, '+', 'LIMIT', 0, WINDOW),
    );
    yield page.map(readMember);
    const last = page.at(-1);
    if (last === undefined || page.length < WINDOW) return;
    from = Buffer.concat([Buffer.from('('), last]);
  }
}

async function* suspects(ask: Ask, key: string): AsyncIterable<Waiting[]> {
  for (let at = 0; ; at += WINDOW) {
    const page = await ask((client) => client.zrangeBuffer(key, at, at + WINDOW - 1));
    yield page.map(readEntry);
    if (page.length < WINDOW) return;
  }
}

async function* delayed(ask: Ask, key: string): AsyncIterable<Waiting[]> {
  for (let at = 0; ; at += WINDOW) {
    const page = await ask((client) => client.zrangeBuffer(key, at, at + WINDOW - 1, 'WITHSCORES'));
    yield pairs(page).map(([entry, dueAtMs]) => ({ ...readEntry(entry), dueAtMs: Number(dueAtMs) }));
    if (page.length < 2 * WINDOW) return;
  }
}

/** Adds the data from other keys. Requests whose record was deleted by hand are left out. */
async function* withRecords(
  ask: Ask,
  keys: FrontierKeys,
  queueClass: Shape['queueClass'],
  pages: AsyncIterable<readonly Waiting[]>,
): AsyncIterable<BackupRequest[]> {
  const crashesKey = internalKey(keys, 'crashes');
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += WINDOW) {
      const some = page.slice(at, at + WINDOW);
      const ids = some.map(({ id }) => id);
      const [records, crashes] = await ask((client) =>
        Promise.all([client.hmget(keys.requests, ...ids), client.hmget(crashesKey, ...ids)]),
      );
      yield some.flatMap((waiting, n) => {
        const record = records[n];
        if (record == null) return [];
        const count = Number(crashes[n] ?? 0);
        return [{ ...describe(waiting, queueClass), ...(count > 0 ? { crashes: count } : {}), record }];
      });
    }
  }
}

/** Decodes the order of a request. FIFO and LIFO have no priorities. A delayed request has a priority but no arrival yet. */
function describe(
  { id, order, domain, dueAtMs }: Waiting,
  queueClass: Shape['queueClass'],
): Omit<BackupRequest, 'record' | 'crashes'> {
  const request = { id: id.toString('hex'), domain };
  const priority = 2 ** 31 - order.readUIntBE(0, RANK_BYTES);
  if (dueAtMs !== undefined) return { ...request, priority, dueAtMs };
  // Seven bytes, of which the first is small: at most 2⁵³.
  const arrival = order.readUInt8(RANK_BYTES) * 2 ** 48 + order.readUIntBE(RANK_BYTES + 1, 6);
  if (queueClass === 'FifoQueue') return { ...request, priority: 0, arrival };
  if (queueClass === 'LifoQueue') return { ...request, priority: 0, arrival: NEWEST - arrival };
  return { ...request, priority, arrival };
}

function startOf(text: string | undefined): number | 'pushed' {
  return text === 'pushed' ? 'pushed' : Number(text || 0);
}

/** The start requests pushed under each set of arguments. */
function startsOf(meta: Readonly<Record<string, string>>): { starts?: Record<string, number | 'pushed'> } {
  const fields = Object.entries(meta).filter(([name]) => name.startsWith('start:'));
  if (fields.length === 0) return {};
  return {
    starts: Object.fromEntries(fields.map(([name, text]) => [name.slice('start:'.length), startOf(text)])),
  };
}
