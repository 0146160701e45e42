/**
 * The invariants I1–I8 (DESIGN §5), checked on one consistent view: a MULTI reads everything at one instant. It
 * reads the whole frontier, so it is for tests and `doctor --deep`, not for a dashboard.
 */
import type { FrontierKeys } from '../open.js';
import type { Client } from './connection.js';
import { dupefilterKey, dupefilterWords, type InternalWord, internalKey, internalWords } from './keys.js';
import { checkDupefilter } from './redis-verify-dupefilter.js';
import { type Chunk, checkQueue, endsOf, unpackQueue } from './redis-verify-queue.js';
import { type UnpackedDomain, unpackDomain, unpackLease } from './unpack.js';

const SUSPECT_ID_AT = 12;

/** @returns one sentence for each breach. */
export async function verifyInvariants(client: Client, keys: FrontierKeys): Promise<string[]> {
  const view = await readAll(client, keys);
  return [
    ...checkPlaces(view),
    ...checkQueue(view.queue, view.chunks),
    ...checkLeases(view),
    ...checkCounters(view),
    ...checkDomains(view),
    ...(await checkExpiry(client, keys)),
    ...(view.meta.repairing ? ['a repair broke off: repair again'] : []),
    ...(await checkDupefilter(client, keys)),
  ];
}

interface View {
  readonly records: ReadonlySet<string>;
  /** The chunks of the queue in order; one that was never filled is not there. */
  readonly queue: readonly Chunk[];
  /** Names of those that follow their domain's first. */
  readonly chunks: readonly Buffer[];
  readonly suspects: readonly Buffer[];
  readonly delayed: readonly Buffer[];
  readonly failed: readonly Buffer[];
  readonly leases: ReadonlyMap<string, { incarnation: string; domain: string }>;
  readonly registered: ReadonlySet<string>;
  readonly held: Readonly<Record<string, string>>;
  readonly domains: ReadonlyMap<string, UnpackedDomain>;
  readonly ready: readonly Buffer[];
  readonly waiting: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
}

async function readAll(client: Client, keys: FrontierKeys): Promise<View> {
  const key = (word: InternalWord): string => internalKey(keys, word);
  const replies = await client
    .multi()
    .hkeysBuffer(keys.requests)
    .hkeysBuffer(key('queue'))
    .hvalsBuffer(key('queue'))
    .zrangeBuffer(key('chunks'), 0, -1)
    .zrangeBuffer(key('suspects'), 0, -1)
    .zrangeBuffer(key('delayed'), 0, -1)
    .zrangeBuffer(key('failed'), 0, -1)
    .hkeysBuffer(key('leases'))
    .hvalsBuffer(key('leases'))
    .zrange(key('nodes'), 0, -1)
    .zrange(key('dead'), 0, -1)
    .hgetall(key('held'))
    .hgetallBuffer(key('domains'))
    .zrangeBuffer(key('ready'), 0, -1)
    .zrange(key('waiting'), 0, -1)
    .hgetall(key('meta'))
    .exec();
  const values = (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
  const [
    ids,
    chunkNames,
    chunkTexts,
    chunks,
    suspects,
    delayed,
    failed,
    leasedIds,
    packedLeases,
    nodes,
    dead,
    held,
    domains,
    ready,
    waiting,
    meta,
  ] = values as [
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    Buffer[],
    string[],
    string[],
    Record<string, string>,
    Record<string, Buffer>,
    Buffer[],
    string[],
    Record<string, string>,
  ];
  const leases = new Map<string, { incarnation: string; domain: string }>();
  // HKEYS and HVALS of one instant are in the same order.
  for (const [n, id] of leasedIds.entries()) {
    leases.set(id.toString('hex'), unpackLease(packedLeases[n] as Buffer));
  }
  const known = new Map(Object.entries(domains).map(([name, packed]) => [name, unpackDomain(packed)]));
  const gone = new Map([...known.values()].map((domain) => [domain.number, domain.gone]));
  return {
    records: new Set(ids.map((id) => id.toString('hex'))),
    queue: unpackQueue(chunkNames, chunkTexts, (domain) => gone.get(domain) ?? 0),
    chunks,
    suspects,
    delayed,
    failed,
    leases,
    registered: new Set([...nodes, ...dead]),
    held,
    domains: known,
    ready,
    waiting,
    meta,
  };
}

const idAt = (member: Buffer, at: number): string => member.subarray(at, at + 20).toString('hex');

/** I1: a record in exactly one place, and no place without a record (failed ones past FAILED_LIMIT apart). */
function checkPlaces(view: View): string[] {
  const breaches: string[] = [];
  const places = new Map<string, string[]>();
  const put = (id: string, place: string): void => {
    places.set(id, [...(places.get(id) ?? []), place]);
  };
  for (const { ids } of view.queue) for (const id of ids) put(id, 'pending');
  for (const member of view.suspects) put(idAt(member, SUSPECT_ID_AT), 'pending');
  for (const member of view.delayed) put(idAt(member, 0), 'delayed');
  for (const id of view.leases.keys()) put(id, 'leased');
  for (const id of view.failed) put(id.toString('hex'), 'failed');
  for (const [id, found] of places) {
    if (found.length > 1)
      breaches.push(`I1: request ${id} is in ${found.length} places: ${found.join(', ')}`);
    if (!view.records.has(id) && found[0] !== 'failed')
      breaches.push(`I1: ${found[0]} request ${id} has no record`);
  }
  for (const id of view.records) {
    if (!places.has(id)) breaches.push(`I1: the record of ${id} is in no queue: it would never be fetched`);
  }
  return breaches;
}

/** I3: every lease belongs to a registered incarnation, and each incarnation's count is right. */
function checkLeases(view: View): string[] {
  const breaches: string[] = [];
  const counted = new Map<string, number>();
  for (const [id, { incarnation }] of view.leases) {
    counted.set(incarnation, (counted.get(incarnation) ?? 0) + 1);
    if (!view.registered.has(incarnation)) {
      breaches.push(`I3: request ${id} is leased to ${incarnation}, which is not registered`);
    }
  }
  for (const incarnation of new Set([...counted.keys(), ...Object.keys(view.held)])) {
    const [stored, real] = [Number(view.held[incarnation] ?? 0), counted.get(incarnation) ?? 0];
    if (stored !== real)
      breaches.push(`I3: ${incarnation} is said to hold ${stored} leases and holds ${real}`);
  }
  return breaches;
}

/** I4: accepted = pending + delayed + leased + done + failed + removed. */
function checkCounters(view: View): string[] {
  const accepted = Number(view.meta.accepted ?? 0);
  const done = Number(view.meta.done ?? 0);
  const removed = Number(view.meta.removed ?? 0);
  const queued = view.queue.reduce((sum, { ids }) => sum + ids.length, 0);
  const pending = queued + view.suspects.length;
  const sum = pending + view.delayed.length + view.leases.size + done + view.failed.length + removed;
  const breaches: string[] = [];
  if (queued !== Number(view.meta.pending ?? 0)) {
    breaches.push(`I4: ${view.meta.pending ?? 0} are said to be in the queue, which holds ${queued}`);
  }
  if (accepted === sum) return breaches;
  return [
    ...breaches,
    `I4: ${accepted} accepted, but ${pending} pending + ${view.delayed.length} delayed + ${view.leases.size} leased + ${done} done + ${view.failed.length} failed + ${removed} removed = ${sum}`,
  ];
}

/** I6 and I7: each domain's active count is its leases, and it stands in exactly the place it says. */
function checkDomains(view: View): string[] {
  const breaches: string[] = [];
  const active = new Map<string, number>();
  for (const { domain } of view.leases.values()) active.set(domain, (active.get(domain) ?? 0) + 1);
  const ends = endsOf(view.queue);
  const ready = view.ready.map((member) => member.subarray(12).toString());
  const numbers = new Set<number>();
  for (const [name, domain] of view.domains) {
    numbers.add(domain.number);
    const leased = active.get(name) ?? 0;
    if (domain.active !== leased) {
      breaches.push(`I6: ${name} has ${leased} leased requests and an active count of ${domain.active}`);
    }
    const places = [
      ...ready.filter((other) => other === name).map(() => 'r'),
      ...view.waiting.filter((other) => other === name).map(() => 'w'),
      ...(domain.place === 'f' || domain.place === 'i' ? [domain.place] : []),
    ];
    if (places.length !== 1 || places[0] !== domain.place) {
      breaches.push(
        `I7: ${name} says it is ${domain.place} and is found as ${places.join(', ') || 'nothing'}`,
      );
    }
    if (domain.place === 'i' && ends.has(domain.number)) {
      breaches.push(`I7: ${name} has pending requests and is idle: they would never be leased`);
    }
    const { head, tail } = ends.get(domain.number) ?? { head: '', tail: '' };
    if (domain.head !== head) breaches.push(`I7: ${name} does not know its best request`);
    if (domain.tail !== tail) breaches.push(`I7: ${name} does not know the last chunk of its queue`);
    if (domain.place === 'f' && leased === 0) breaches.push(`I7: ${name} is full with nothing leased`);
  }
  for (const number of ends.keys()) {
    if (!numbers.has(number))
      breaches.push(`I7: pending requests of domain number ${number}, which is not known`);
  }
  for (const [name, leased] of active) {
    if (!view.domains.has(name)) breaches.push(`I6: ${name} has ${leased} leased requests and no record`);
  }
  return breaches;
}

/** I8: no key of the frontier has a time to live. */
async function checkExpiry(client: Client, keys: FrontierKeys): Promise<string[]> {
  const breaches: string[] = [];
  const names = [
    keys.requests,
    keys.dupefilter,
    ...dupefilterWords.map((word) => dupefilterKey(keys, word)),
    keys.items,
    keys.stats,
    ...keys.startUrls,
    ...internalWords.map((word) => internalKey(keys, word)),
  ];
  for (const name of names) {
    if ((await client.pttl(name)) >= 0)
      breaches.push(`I8: ${name} has a time to live: it would vanish by itself`);
  }
  return breaches;
}
