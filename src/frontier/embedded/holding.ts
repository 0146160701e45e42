/** Leases in the store: taking one, giving it back, ending it, and who may hold any. */
import { IncarnationDeadError } from '../../errors.js';
import type { Lease } from '../frontier.js';
import type { DomainEntry } from './domain-entry.js';
import type { LifeChange } from './dupefilter.js';
import type { IncarnationEntry } from './incarnation-entry.js';
import { numberBytes, numberedKey, numberOf, Table } from './keys.js';
import { dropRequest } from './live.js';
import { delayOf, place } from './placement.js';
import { enqueue } from './queue.js';
import {
  decodeLease,
  decodeRequest,
  encodeLease,
  type LeaseEntry,
  type RequestEntry,
  tokenText,
} from './request-entry.js';
import type { Transaction } from './transaction.js';

/** @throws IncarnationDeadError when the incarnation is not registered, or declared dead. */
export function requireAlive(tx: Transaction, number: number): IncarnationEntry {
  tx.meta();
  const entry = tx.incarnation(number);
  if (entry === null || entry.isDead) {
    throw new IncarnationDeadError('this node was declared dead, or has not joined: it must join anew');
  }
  return entry;
}

/** Hand a request out. The caller takes it from the structure it stood in. */
export function hold(
  tx: Transaction,
  holder: IncarnationEntry,
  domain: DomainEntry,
  number: number,
): Lease | null {
  const bytes = tx.request(number);
  if (bytes === undefined) return null;
  const entry = decodeRequest(bytes);
  const state = tx.state();
  state.tokens += 1;
  state.leased += 1;
  state.runPages += 1;
  // The request stays as it is: another page of the file would have to be written for each.
  const lease: LeaseEntry = { incarnation: holder.number, atMs: tx.nowMs, token: state.tokens };
  const held: Held = { number, entry, lease, size: bytes.length };
  tx.put(leaseKey(tx, holder.number, number), encodeLease(lease), 0);
  tx.kept.leased.set(number, held);
  follow(tx, held, { state: 'leased' });
  domain.active += 1;
  domain.pages += 1;
  holder.leased += 1;
  tx.keepIncarnation(holder);
  return {
    id: entry.id,
    token: tokenText(lease, number),
    record: entry.record,
    domain: entry.domain,
    delayMs: delayOf(tx, domain),
    crashes: entry.crashes,
  };
}

/** A request that is leased, as it is before its lease ends. */
export interface Held {
  readonly number: number;
  readonly entry: RequestEntry;
  readonly lease: LeaseEntry;
  /** Bytes it takes now. */
  readonly size: number;
}

/** The request of this number that an incarnation holds, or null. */
export function heldRequest(tx: Transaction, incarnation: number, number: number): Held | null {
  const kept = tx.kept.leased.get(number);
  if (kept !== undefined) return kept.lease.incarnation === incarnation ? kept : null;
  const lease = leaseOf(tx, incarnation, number);
  const bytes = lease === null ? undefined : tx.request(number);
  if (lease === null || bytes === undefined) return null;
  return { number, entry: decodeRequest(bytes), lease, size: bytes.length };
}

/** The lease that an incarnation has of a request, or null. */
export function leaseOf(tx: Transaction, incarnation: number, number: number): LeaseEntry | null {
  const bytes = tx.get(leaseKey(tx, incarnation, number));
  return bytes === undefined ? null : decodeLease(incarnation, bytes);
}

/** What an incarnation holds, at most `max`. */
export function leasesOf(tx: Transaction, incarnation: number, max: number): Held[] {
  return tx
    .keys(numberedKey(Table.lease, tx.spaces.crawl, incarnation), max)
    .map((key) => heldRequest(tx, incarnation, numberOf(key)))
    .filter((held) => held !== null);
}

/** Tell the dupefilter what became of a request it may know. */
export function follow(tx: Transaction, { entry }: Held, change: LifeChange): void {
  if (!entry.unfiltered) tx.dupefilter.onLife(entry.id, change);
}

/** End a lease's hold on its node and domain; what becomes of the request, and placing the domain, is up to the caller. */
export function free(tx: Transaction, { number, entry, lease }: Held): void {
  const state = tx.state();
  state.leased -= 1;
  tx.delete(leaseKey(tx, lease.incarnation, number), 0);
  tx.kept.leased.delete(number);
  const holder = tx.incarnation(lease.incarnation);
  if (holder !== null) {
    holder.leased -= 1;
    tx.keepIncarnation(holder);
    // Its suspect is settled: the next one goes to whoever asks first.
    if (state.volunteer === holder.number && entry.crashes > 0) state.volunteer = 0;
  }
  const domain = tx.ensureDomain(entry.domain);
  domain.active -= 1;
  tx.keepDomain(domain);
}

/** A lease goes back to pending as it was: its arrival stays. */
export function giveBack(tx: Transaction, held: Held): void {
  free(tx, held);
  follow(tx, held, { state: 'pending' });
  enqueue(tx, held.number, held.entry, held.size);
  place(tx, tx.ensureDomain(held.entry.domain));
}

/** A page is done: its request is live no more. */
export function finishRequest(tx: Transaction, held: Held): void {
  free(tx, held);
  dropRequest(tx, held.number, held.entry, held.size);
  tx.state().done += 1;
  place(tx, tx.ensureDomain(held.entry.domain));
}

function leaseKey(tx: Transaction, incarnation: number, number: number): Buffer {
  return numberedKey(Table.lease, tx.spaces.crawl, incarnation, numberBytes(number));
}
