/** The requests that wait in a crawl in Redis, wherever they stand: the one place that reads the queue's layout for a backup. */
import type { ChainableCommander } from 'ioredis';
import { CrawlnodeError } from '../../errors.js';
import type { BackupRequest } from '../backup-entry.js';
import type { Shape } from '../frontier.js';
import type { InternalWord } from './keys.js';
import { unpackQueue } from './redis-verify-queue.js';
import { hex, type Reply, text } from './reply.js';
import { unpackDomain } from './unpack.js';
import { type Ask, pairs, walk } from './walk.js';

export interface QueueStore {
  readonly ask: Ask;
  key(word: InternalWord): string;
  /** The answer of `read-leases`. */
  readonly leases: readonly Reply[];
  readonly queueClass: Shape['queueClass'];
}

/** A request by its place; its record and its crashes lie elsewhere. */
export type Placed = Omit<BackupRequest, 'record' | 'crashes'>;

const WINDOW = 1_000;
/** Of some 30 requests each. */
const CHUNKS = 50;
const ID_BYTES = 20;
const ORDER_BYTES = 12;
const PRIORITY_BYTES = 5;
/** LIFO orders by what is left to here (`lua/parts/queue.lua`). */
const LIFO_TOP = 2 ** 53;

/** Pending, suspect, delayed and leased: each once. */
export async function* pendingRequests(store: QueueStore): AsyncIterable<Placed[]> {
  yield* queued(store);
  yield* suspects(store);
  yield* delayed(store);
  yield leased(store);
}

/** By domain in order: the first chunk of each, then those that follow. */
async function* queued(store: QueueStore): AsyncIterable<Placed[]> {
  const domains = await domainNames(store);
  const numbers = [...domains.keys()];
  for (let at = 0; at < numbers.length; at += CHUNKS) {
    yield inFirstChunks(store, domains, numbers.slice(at, at + CHUNKS));
  }
  let from: string | Buffer = '-';
  for (;;) {
    const after = from as string;
    const names: Buffer[] = await store.ask((client) =>
      client.zrangebylexBuffer(store.key('chunks'), after, '+', 'LIMIT', 0, CHUNKS),
    );
    yield inFurtherChunks(store, domains, names);
    const last = names.at(-1);
    if (last === undefined || names.length < CHUNKS) return;
    from = Buffer.concat([Buffer.from('('), last]);
  }
}

/** What stands in the first chunks of domains; one is missing where its domain has nothing pending. */
async function inFirstChunks(
  store: QueueStore,
  domains: ReadonlyMap<number, string>,
  numbers: readonly number[],
): Promise<Placed[]> {
  const names = numbers.map((number) => {
    const name = Buffer.alloc(4);
    name.writeUInt32BE(number);
    return name;
  });
  // At one instant: a domain's record says what has gone of its chunk.
  const [texts = [], records = []] = await store.ask((client) =>
    manyOf(
      client
        .multi()
        .hmgetBuffer(store.key('queue'), ...names)
        .hmgetBuffer(store.key('domains'), ...numbers.map((number) => domains.get(number) as string)),
    ),
  );
  const gone = new Map(numbers.map((number, n) => [number, records[n] ? unpackDomain(records[n]).gone : 0]));
  return placedIn(store, domains, names, texts, (number) => gone.get(number) ?? 0);
}

async function inFurtherChunks(
  store: QueueStore,
  domains: ReadonlyMap<number, string>,
  names: readonly Buffer[],
): Promise<Placed[]> {
  if (names.length === 0) return [];
  const texts = await store.ask((client) => client.hmgetBuffer(store.key('queue'), ...names));
  return placedIn(store, domains, names, texts, () => 0);
}

function placedIn(
  store: QueueStore,
  domains: ReadonlyMap<number, string>,
  names: readonly Buffer[],
  texts: readonly (Buffer | null)[],
  goneOf: (domain: number) => number,
): Placed[] {
  const chunks = unpackQueue(
    names,
    texts.map((text) => text ?? Buffer.alloc(0)),
    goneOf,
  );
  return chunks.flatMap(({ domain: number, orders, ids }) => {
    const domain = domains.get(number);
    if (domain === undefined) throw unknownDomain(ids[0] ?? '');
    return ids.map((id, n) => ({ id, domain, ...placeOf(orders[n] as Buffer, store.queueClass) }));
  });
}

/** The replies of a transaction of commands that read many values. */
async function manyOf(transaction: ChainableCommander): Promise<(Buffer | null)[][]> {
  const replies = (await transaction.exec()) ?? [];
  return replies.map(([error, value]) => {
    if (error) throw error;
    return value as (Buffer | null)[];
  });
}

async function* suspects(store: QueueStore): AsyncIterable<Placed[]> {
  for (let at = 0; ; at += WINDOW) {
    const page = await store.ask((client) => client.zrangeBuffer(store.key('suspects'), at, at + WINDOW - 1));
    yield page.map((member) => ({
      id: member.toString('hex', ORDER_BYTES, ORDER_BYTES + ID_BYTES),
      domain: member.toString('utf8', ORDER_BYTES + ID_BYTES),
      ...placeOf(member, store.queueClass),
    }));
    if (page.length < WINDOW) return;
  }
}

async function* delayed(store: QueueStore): AsyncIterable<Placed[]> {
  for (let at = 0; ; at += WINDOW) {
    const page = await store.ask((client) =>
      client.zrangeBuffer(store.key('delayed'), at, at + WINDOW - 1, 'WITHSCORES'),
    );
    yield pairs(page).map(([member, dueAtMs]) => ({
      id: member.toString('hex', 0, ID_BYTES),
      domain: member.toString('utf8', ID_BYTES + PRIORITY_BYTES),
      priority: priorityOf(member.subarray(ID_BYTES)),
      dueAtMs: Number(dueAtMs),
    }));
    if (page.length < 2 * WINDOW) return;
  }
}

function leased({ leases: rows, queueClass }: QueueStore): Placed[] {
  return Array.from({ length: rows.length / 3 }, (_, n) => ({
    id: hex(rows[3 * n]),
    domain: text(rows[3 * n + 2]),
    ...placeOf(rows[3 * n + 1] as Buffer, queueClass),
  }));
}

/** Domain number → name. */
async function domainNames(store: QueueStore): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  const pages = walk(store.ask, (client, cursor) =>
    client.hscanBuffer(store.key('domains'), cursor, 'COUNT', WINDOW),
  );
  for await (const page of pages) {
    for (const [name, packed] of pairs(page)) names.set(unpackDomain(packed).number, name.toString());
  }
  return names;
}

/** What an order says: under FIFO and LIFO there are no priorities. */
function placeOf(
  order: Buffer,
  queueClass: Shape['queueClass'],
): { readonly priority: number; readonly arrival: number } {
  // Seven bytes, of which the first is small: below 2⁵³.
  const turn = order.readUInt8(PRIORITY_BYTES) * 2 ** 48 + order.readUIntBE(PRIORITY_BYTES + 1, 6);
  if (queueClass === 'FifoQueue') return { priority: 0, arrival: turn };
  if (queueClass === 'LifoQueue') return { priority: 0, arrival: LIFO_TOP - turn };
  return { priority: priorityOf(order), arrival: turn };
}

/** As `packPriority` of `batch.ts` wrote it. */
const priorityOf = (bytes: Buffer): number => 2 ** 31 - bytes.readUIntBE(0, PRIORITY_BYTES);

function unknownDomain(id: string): CrawlnodeError {
  return new CrawlnodeError(
    'frontier_damaged',
    `the request ${id} waits in the queue of a domain that has no record, so it cannot be backed up: see "crawlnode doctor --deep", or reset without --backup`,
  );
}
