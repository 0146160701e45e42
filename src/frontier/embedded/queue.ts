/** Requests in their structures: into a domain's queue, among the suspects, parked until due, and out again. */
import type { DomainEntry } from './domain-entry.js';
import { domainHash, HEAD_BYTES, ID_BYTES, keyOf, Table, writeUint53 } from './keys.js';
import { isBefore, type Order, orderBytes, orderOf, readOrder } from './order.js';
import { place } from './placement.js';
import { encodeRequest, type RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

/** The key of a live request. */
export function requestKey(tx: Transaction, id: Buffer): Buffer {
  return keyOf(Table.request, tx.spaces.crawl, id);
}

/** Write a request; `before` is the size it had, so that the sum of sizes stays right. */
export function keepRequest(tx: Transaction, id: Buffer, entry: RequestEntry, before: number): void {
  const bytes = encodeRequest(entry);
  tx.put(requestKey(tx, id), bytes, before);
  tx.state().bytes += bytes.length - before;
}

/** Delete a request of this size. */
export function dropRequest(tx: Transaction, id: Buffer, before: number): void {
  tx.delete(requestKey(tx, id), before);
  tx.state().bytes -= before;
}

/** The order of a request as the crawl has it. */
export function orderIn(tx: Transaction, entry: RequestEntry): Order {
  return orderOf(tx.meta().queueClass, entry.priority, entry.arrival);
}

/**
 * Make a request pending and write it: in its domain's queue, or apart when it has crashed a node. The caller places
 * the domain afterwards, once for all its requests.
 */
export function enqueue(tx: Transaction, id: Buffer, entry: RequestEntry, before: number): void {
  const order = orderIn(tx, entry);
  const state = tx.state();
  entry.at = 0;
  if (entry.crashes > 0) {
    entry.phase = 'suspect';
    state.suspects += 1;
    tx.putIndexed(keyOf(Table.suspect, tx.spaces.crawl, orderBytes(order), id));
  } else {
    entry.phase = 'pending';
    state.queued += 1;
    const domain = tx.ensureDomain(entry.domain);
    tx.putIndexed(queueKey(tx, entry.domain, order, id));
    if (domain.queued === 0 || isBefore(order, domain.head)) domain.head = order;
    domain.queued += 1;
  }
  keepRequest(tx, id, entry, before);
}

/** Park a request until `delayMs` from now; unique and in the order of parking among equals. */
export function park(
  tx: Transaction,
  id: Buffer,
  entry: RequestEntry,
  delayMs: number,
  before: number,
): void {
  parkUntil(tx, id, entry, tx.takeArrival() + Math.round(delayMs * 1000), before);
}

/** Park a request until an instant in µs. */
export function parkUntil(
  tx: Transaction,
  id: Buffer,
  entry: RequestEntry,
  dueUs: number,
  before: number,
): void {
  entry.phase = 'delayed';
  entry.at = dueUs;
  tx.state().delayed += 1;
  tx.putIndexed(delayedKey(tx, entry, id));
  keepRequest(tx, id, entry, before);
}

/** Where a delayed request stands. */
export function delayedKey(tx: Transaction, entry: RequestEntry, id: Buffer): Buffer {
  const due = Buffer.allocUnsafe(8);
  writeUint53(due, entry.at, 0);
  return keyOf(Table.delayed, tx.spaces.crawl, due, id);
}

/** Where a pending request stands in the queue of its domain. */
export function queueKey(tx: Transaction, domain: string, order: Order, id: Buffer): Buffer {
  return keyOf(Table.queue, tx.spaces.crawl, domainHash(domain), orderBytes(order), id);
}

/** Up to `max` first entries of a domain's queue. */
export function heads(
  tx: Transaction,
  domain: DomainEntry,
  max: number,
): { key: Buffer; order: Order; id: Buffer }[] {
  const hash = domainHash(domain.name);
  const prefix = keyOf(Table.queue, tx.spaces.crawl, hash);
  // From the head on: what lies before it was just deleted, and walking over it would cost.
  return tx.firstOf(prefix, max, Buffer.concat([prefix, orderBytes(domain.head)])).map((key) => ({
    key,
    order: readOrder(key, HEAD_BYTES + hash.length),
    id: key.subarray(key.length - ID_BYTES),
  }));
}

/** The id at the end of an index key. */
export const idOf = (key: Buffer): Buffer => key.subarray(key.length - ID_BYTES);

/** Place every domain of `names`, each once. */
export function placeAll(tx: Transaction, names: Iterable<string>): void {
  for (const name of new Set(names)) {
    const domain = tx.domain(name);
    if (domain !== null) place(tx, domain);
  }
}
