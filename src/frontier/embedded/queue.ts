/** Requests in their structures: into a domain's queue, among the suspects, parked until due, and out again. */
import type { DomainEntry } from './domain-entry.js';
import { domainHash, HEAD_BYTES, keyOf, numberBytes, numberedKey, numberOf, Table } from './keys.js';
import { keepRequest } from './live.js';
import { isBefore, type Order, orderBytes, orderOf, readOrder } from './order.js';
import { place } from './placement.js';
import type { RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

/** The order of a request as the crawl has it. */
export function orderIn(tx: Transaction, entry: RequestEntry): Order {
  return orderOf(tx.meta().queueClass, entry.priority, entry.arrival);
}

/**
 * Make a request pending and write it: in its domain's queue, or apart when it has crashed a node. The caller places
 * the domain afterwards, once for all its requests.
 */
export function enqueue(tx: Transaction, number: number, entry: RequestEntry, before: number): void {
  const order = orderIn(tx, entry);
  const state = tx.state();
  entry.at = 0;
  if (entry.crashes > 0) {
    entry.phase = 'suspect';
    state.suspects += 1;
    tx.putIndexed(keyOf(Table.suspect, tx.spaces.crawl, orderBytes(order), numberBytes(number)));
  } else {
    entry.phase = 'pending';
    state.queued += 1;
    const domain = tx.ensureDomain(entry.domain);
    tx.putIndexed(queueKey(tx, entry.domain, order, number));
    if (domain.queued === 0 || isBefore(order, domain.head)) domain.head = order;
    domain.queued += 1;
  }
  keepRequest(tx, number, entry, before);
}

/** Park a request until `delayMs` from now; unique and in the order of parking among equals. */
export function park(
  tx: Transaction,
  number: number,
  entry: RequestEntry,
  delayMs: number,
  before: number,
): void {
  parkUntil(tx, number, entry, tx.takeArrival() + Math.round(delayMs * 1000), before);
}

/** Park a request until an instant in µs. */
export function parkUntil(
  tx: Transaction,
  number: number,
  entry: RequestEntry,
  dueUs: number,
  before: number,
): void {
  entry.phase = 'delayed';
  entry.at = dueUs;
  tx.state().delayed += 1;
  tx.putIndexed(delayedKey(tx, entry, number));
  keepRequest(tx, number, entry, before);
}

/** Where a delayed request stands. */
export function delayedKey(tx: Transaction, { at }: RequestEntry, number: number): Buffer {
  return numberedKey(Table.delayed, tx.spaces.crawl, at, numberBytes(number));
}

/** Where a pending request stands in the queue of its domain. */
export function queueKey(tx: Transaction, domain: string, order: Order, number: number): Buffer {
  return keyOf(Table.queue, tx.spaces.crawl, domainHash(domain), orderBytes(order), numberBytes(number));
}

/** Up to `max` first entries of a domain's queue. */
export function heads(
  tx: Transaction,
  domain: DomainEntry,
  max: number,
): { key: Buffer; order: Order; number: number }[] {
  const hash = domainHash(domain.name);
  const prefix = keyOf(Table.queue, tx.spaces.crawl, hash);
  // From the head on: what lies before it was just deleted, and walking over it would cost.
  return tx.firstOf(prefix, max, Buffer.concat([prefix, orderBytes(domain.head)])).map((key) => ({
    key,
    order: readOrder(key, HEAD_BYTES + hash.length),
    number: numberOf(key),
  }));
}

/** Place every domain of `names`, each once. */
export function placeAll(tx: Transaction, names: Iterable<string>): void {
  for (const name of new Set(names)) {
    const domain = tx.domain(name);
    if (domain !== null) place(tx, domain);
  }
}
