/** Leases in the store: taking one, giving it back, ending it, and who may hold any. */
import { IncarnationDeadError } from '../../errors.js';
import type { Lease } from '../frontier.js';
import type { DomainEntry } from './domain-entry.js';
import type { LifeChange } from './dupefilter.js';
import type { IncarnationEntry } from './incarnation-entry.js';
import { numberedKey, Table } from './keys.js';
import { delayOf, place } from './placement.js';
import { dropRequest, enqueue, idOf, keepRequest, keptLease, requestKey } from './queue.js';
import { decodeRequest, type RequestEntry, tokenText } from './request-entry.js';
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
  id: Buffer,
): Lease | null {
  const bytes = tx.get(requestKey(tx, id));
  if (bytes === undefined) return null;
  const entry = decodeRequest(bytes);
  const state = tx.state();
  state.tokens += 1;
  state.leased += 1;
  state.runPages += 1;
  entry.phase = 'leased';
  entry.at = tx.nowMs;
  entry.incarnation = holder.number;
  entry.token = state.tokens;
  follow(tx, { id, entry }, { state: 'leased' });
  keepRequest(tx, id, entry, bytes.length);
  tx.put(leaseKey(tx, holder.number, id));
  domain.active += 1;
  domain.pages += 1;
  holder.leased += 1;
  tx.keepIncarnation(holder);
  return {
    id: id.toString('hex'),
    token: tokenText(entry),
    record: entry.record,
    domain: entry.domain,
    delayMs: delayOf(tx, domain),
    crashes: entry.crashes,
  };
}

/** A request that is leased, as it is before its lease ends. */
export interface Held {
  readonly id: Buffer;
  readonly entry: RequestEntry;
  /** Bytes it takes now. */
  readonly size: number;
}

/** The leased request of this id, or null. */
export function heldRequest(tx: Transaction, id: Buffer): Held | null {
  const kept = keptLease(tx, id);
  if (kept !== undefined) return { id, ...kept };
  const bytes = tx.get(requestKey(tx, id));
  if (bytes === undefined) return null;
  const entry = decodeRequest(bytes);
  return entry.phase === 'leased' ? { id, entry, size: bytes.length } : null;
}

/** What an incarnation holds, at most `max`. */
export function leasesOf(tx: Transaction, number: number, max: number): Held[] {
  return tx
    .keys(numberedKey(Table.lease, tx.spaces.crawl, number), max)
    .map((key) => heldRequest(tx, Buffer.from(idOf(key))))
    .filter((held) => held !== null);
}

/** Tell the dupefilter what became of a request it may know. */
export function follow(tx: Transaction, { id, entry }: Pick<Held, 'id' | 'entry'>, change: LifeChange): void {
  if (!entry.unfiltered) tx.dupefilter.onLife(id, change);
}

/** End a lease's hold on its node and domain; what becomes of the request, and placing the domain, is up to the caller. */
export function free(tx: Transaction, { id, entry }: Held): void {
  const state = tx.state();
  state.leased -= 1;
  tx.delete(leaseKey(tx, entry.incarnation, id));
  const holder = tx.incarnation(entry.incarnation);
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
  enqueue(tx, held.id, held.entry, held.size);
  place(tx, tx.ensureDomain(held.entry.domain));
}

/** A page is done: its request is live no more. */
export function finishRequest(tx: Transaction, held: Held): void {
  free(tx, held);
  dropRequest(tx, held.id, held.size);
  tx.state().done += 1;
  place(tx, tx.ensureDomain(held.entry.domain));
}

function leaseKey(tx: Transaction, number: number, id: Buffer): Buffer {
  return numberedKey(Table.lease, tx.spaces.crawl, number, id);
}
