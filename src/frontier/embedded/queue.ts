/** Requests in their structures: into a domain's queue, among the suspects, parked until due, and out again. */
import type { DomainEntry } from './domain-entry.js';
import {
  beginKey,
  DOMAIN_BYTES,
  type DomainId,
  HEAD_BYTES,
  keyOf,
  NUMBER_BYTES,
  numberBytes,
  numberedKey,
  ORDER_BYTES,
  Table,
} from './keys.js';
import { keepRequest } from './live.js';
import { isBefore, type Order, orderBytes, orderOf, readOrder, writeOrder } from './order.js';
import { place } from './placement.js';
import type { RequestEntry } from './request-entry.js';
import type { Transaction } from './transaction.js';

/** Where the order stands in the key of a queue. */
const ORDER_AT = HEAD_BYTES + DOMAIN_BYTES;

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
    tx.putIndexed(queueKey(tx, domain.id, order, number), domain.id);
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

const scratch = Buffer.allocUnsafeSlow(ORDER_AT + ORDER_BYTES + NUMBER_BYTES);

/** Where a pending request stands in the queue of its domain; the next such key is written over it. */
export function queueKey(tx: Transaction, { hash }: DomainId, order: Order, number: number): Buffer {
  const key = beginKey(scratch, Table.queue, tx.spaces.crawl);
  key.set(hash, HEAD_BYTES);
  writeOrder(key, order, ORDER_AT);
  key.writeUIntBE(number, ORDER_AT + ORDER_BYTES, NUMBER_BYTES);
  return key;
}

/** Keys of up to `max` first requests of a domain's queue. */
export function heads(tx: Transaction, domain: DomainEntry, max: number): readonly Buffer[] {
  // From the head on: what lies before it was just deleted, and walking over it would cost.
  const start = keyOf(Table.queue, tx.spaces.crawl, domain.id.hash, orderBytes(domain.head));
  return tx.firstOf(Table.queue, max, domain.id, start);
}

/** The order of the request that stands at a key of a queue. */
export const orderAt = (key: Buffer): Order => readOrder(key, ORDER_AT);

/** Place every domain of `names`, each once. */
export function placeAll(tx: Transaction, names: Iterable<string>): void {
  for (const name of new Set(names)) {
    const domain = tx.domain(name);
    if (domain !== null) place(tx, domain);
  }
}
