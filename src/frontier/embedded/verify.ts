/** The invariants I1–I8, checked by reading everything there is of a crawl. One sentence per breach. */
import { type DomainEntry, decodeDomain } from './domain-entry.js';
import { decodeIncarnation } from './incarnation-entry.js';
import {
  DOMAIN_BYTES,
  domainId,
  HEAD_BYTES,
  keyOf,
  NUMBER_BYTES,
  numberBytes,
  numberedKey,
  numberOf,
  readUint53,
  Table,
} from './keys.js';
import { decodeKnown, generationIn } from './known.js';
import { requestOf } from './live.js';
import { orderBytes, orderOf } from './order.js';
import { indexKey } from './placement.js';
import { delayedKey, queueKey } from './queue.js';
import { decodeRequest, type RequestEntry } from './request-entry.js';
import type { State } from './state.js';
import { isBeingSwept } from './sweep.js';
import type { Transaction } from './transaction.js';

/** What is found of one domain among the requests. */
interface Found {
  queued: number;
  active: number;
}

/** @returns a sentence for each breach; none when all is well. */
export function verify(tx: Transaction): string[] {
  const state = tx.peekState();
  if (state === undefined) return leftovers(tx);
  const breaches: string[] = [];
  const domains = new Map<string, Found>();
  const counts = checkRequests(tx, domains, breaches);
  checkKnown(tx, breaches);
  checkCounters(tx, state, counts, breaches);
  checkDomains(tx, state, domains, breaches);
  checkIncarnations(tx, state, breaches);
  if (tx.meta().repairing !== undefined) breaches.push('a repair broke off: repair again');
  return breaches;
}

/** I1, I3: each request stands in exactly the one structure of its phase, and a lease has a registered holder. */
function checkRequests(
  tx: Transaction,
  domains: Map<string, Found>,
  breaches: string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  const { crawl } = tx.spaces;
  const leases = readLeases(tx);
  let size = 0;
  let records = 0;
  for (const { key, value } of tx.scan(Table.request, crawl)) {
    const number = numberOf(key);
    const entry = decodeRequest(value);
    const { id } = entry;
    size += value.length;
    if (tx.known.numberOf(id) !== number)
      breaches.push(`I1: ${id} is ${entry.phase} but not found by its id, or twice`);
    const holder = leases.get(number);
    const phase = holder === undefined ? entry.phase : 'leased';
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
    if (entry.phase === 'failed' && entry.record !== '') records += 1;
    const found = domains.get(entry.domain) ?? { queued: 0, active: 0 };
    if (phase === 'pending') found.queued += 1;
    domains.set(entry.domain, found);
    const stands = tx.has(placeOf(tx, entry, number));
    if (holder !== undefined) {
      found.active += 1;
      if (tx.incarnation(holder) === null) breaches.push(`I3: ${id} is leased to nobody that is registered`);
      if (stands) breaches.push(`I1: ${id} is leased and ${entry.phase} too`);
    } else if (!stands) {
      breaches.push(`I1: ${id} is ${phase} but does not stand where such requests do`);
    }
  }
  counts.set('bytes', size);
  counts.set('records', records);
  return counts;
}

/** I1: what is known of an id is that it is seen, or the number of its live request; unless it is being swept. */
function checkKnown(tx: Transaction, breaches: string[]): void {
  const { crawl } = tx.spaces;
  if (isBeingSwept(tx, crawl)) return;
  const generation = generationIn(tx, crawl);
  let stale = 0;
  for (const { key, value } of tx.scan(Table.known, crawl)) {
    if (key.length === HEAD_BYTES) continue;
    const known = decodeKnown(value);
    const isSeen = known.generation !== 0 && known.generation === generation;
    if (!isSeen && requestOf(tx, crawl, known.number, key.toString('hex', HEAD_BYTES)) === null) stale += 1;
  }
  if (stale > 0) breaches.push(`I1: ${stale} ids are known that are neither live nor seen`);
}

/** Who holds each leased request, by its number. */
function readLeases(tx: Transaction): Map<number, number> {
  const holders = new Map<number, number>();
  for (const { key } of tx.scan(Table.lease, tx.spaces.crawl))
    holders.set(numberOf(key), readUint53(key, HEAD_BYTES));
  return holders;
}

function placeOf(tx: Transaction, entry: RequestEntry, number: number): Buffer {
  const { crawl } = tx.spaces;
  const order = orderOf(tx.meta().queueClass, entry.priority, entry.arrival);
  switch (entry.phase) {
    case 'pending':
      return queueKey(tx, domainId(entry.domain), order, number);
    case 'suspect':
      return keyOf(Table.suspect, crawl, orderBytes(order), numberBytes(number));
    case 'delayed':
      return delayedKey(tx, entry, number);
    case 'failed':
      return numberedKey(Table.failed, crawl, entry.at);
  }
}

/** I1, I4: every structure has as many entries as there are requests of its phase, and the counters agree. */
function checkCounters(tx: Transaction, state: State, counts: Map<string, number>, breaches: string[]): void {
  const structures = [
    ['pending', Table.queue, state.queued],
    ['suspect', Table.suspect, state.suspects],
    ['delayed', Table.delayed, state.delayed],
    ['leased', Table.lease, state.leased],
    ['failed', Table.failed, state.failed],
  ] as const;
  let live = 0;
  for (const [phase, table, counter] of structures) {
    const requests = counts.get(phase) ?? 0;
    const entries = tx.countEntries(table, tx.spaces.crawl);
    live += requests;
    if (requests !== counter)
      breaches.push(`I4: ${requests} requests are ${phase} but the counter says ${counter}`);
    if (entries !== requests)
      breaches.push(`I1: ${requests} requests are ${phase} but ${entries} stand among them`);
  }
  const total = live + state.done + state.removed;
  if (state.accepted !== total) {
    breaches.push(
      `I4: ${state.accepted} were accepted but ${total} are pending, delayed, leased, done, failed or removed`,
    );
  }
  breaches.push(...tx.dupefilter.examine());
  if (counts.get('bytes') !== state.bytes)
    breaches.push('I4: the size of the requests is not what the counter says');
  if (counts.get('records') !== state.failedRecords)
    breaches.push('I4: the number of kept failed records is wrong');
}

/** I6, I7: a domain's counts are those of its requests, and it stands in exactly the one place that is right. */
function checkDomains(tx: Transaction, state: State, found: Map<string, Found>, breaches: string[]): void {
  let domains = 0;
  let placed = 0;
  for (const { value } of tx.scan(Table.domain, tx.spaces.crawl)) {
    const domain = decodeDomain(value);
    domains += 1;
    const { queued, active } = found.get(domain.name) ?? { queued: 0, active: 0 };
    found.delete(domain.name);
    if (domain.active !== active)
      breaches.push(`I6: ${domain.name} has ${active} leased, not ${domain.active}`);
    if (domain.queued !== queued)
      breaches.push(`I4: ${domain.name} has ${queued} queued, not ${domain.queued}`);
    const wrong = misplacement(tx, domain);
    if (wrong !== null) breaches.push(`I7: ${domain.name} ${wrong}`);
    const index = indexKey(tx, domain);
    if (index !== null) {
      placed += 1;
      if (!tx.has(index)) breaches.push(`I7: ${domain.name} is ${domain.place} but does not stand there`);
    }
  }
  for (const [name, { queued, active }] of found) {
    if (queued + active > 0) breaches.push(`I7: ${name} has requests but no record`);
  }
  const indexes = ['ready', 'waiting', 'idle'] as const;
  const indexed = indexes.map((index) => tx.countEntries(Table[index], tx.spaces.crawl));
  for (const [n, index] of indexes.entries()) {
    const counter = state[`${index}Domains`];
    if (indexed[n] !== counter)
      breaches.push(`I7: ${indexed[n]} domains are ${index} but the counter says ${counter}`);
  }
  const total = indexed.reduce((sum, count) => sum + count, 0);
  if (total !== placed) breaches.push(`I7: ${total} domains stand in an index, but ${placed} should`);
  if (domains !== state.domains)
    breaches.push(`I4: there are ${domains} domains, the counter says ${state.domains}`);
}

function misplacement(tx: Transaction, domain: DomainEntry): string | null {
  if (domain.queued > 0 && domain.place === 'idle') return 'has pending requests but is idle';
  if (domain.queued === 0 && domain.place !== 'idle') return `has nothing pending but is ${domain.place}`;
  if (domain.place === 'full' && domain.active === 0) return 'is full with nothing leased';
  if (domain.queued === 0) return null;
  const head = tx.first(keyOf(Table.queue, tx.spaces.crawl, domain.id.hash));
  const order = head?.subarray(HEAD_BYTES + DOMAIN_BYTES, head.length - NUMBER_BYTES);
  if (order === undefined || !order.equals(orderBytes(domain.head)))
    return 'has another best request than it says';
  return null;
}

/** I3, I6 of nodes: what an incarnation holds is what the leases say. */
function checkIncarnations(tx: Transaction, state: State, breaches: string[]): void {
  let alive = 0;
  for (const { key, value } of tx.scan(Table.incarnation, tx.spaces.crawl)) {
    const entry = decodeIncarnation(readUint53(key, HEAD_BYTES), value);
    const leases = tx.keys(numberedKey(Table.lease, tx.spaces.crawl, entry.number), 1_000_000).length;
    if (leases !== entry.leased)
      breaches.push(`I3: ${entry.info.id} holds ${leases} leases, not ${entry.leased}`);
    if (!entry.isDead) alive += 1;
  }
  if (alive !== state.alive)
    breaches.push(`I3: ${alive} nodes are registered, the counter says ${state.alive}`);
}

/** Where there is no crawl, there are no requests of it. */
function leftovers(tx: Transaction): string[] {
  const tables = [
    Table.request,
    Table.queue,
    Table.suspect,
    Table.delayed,
    Table.lease,
    Table.domain,
    Table.ready,
  ];
  return tables
    .filter((table) => tx.countEntries(table, tx.spaces.crawl) > 0)
    .map((table) => `I1: table ${table} has entries of a crawl that is not there`);
}
