/**
 * Suspects: requests whose node died while processing them. One incarnation at a time volunteers: it takes nothing
 * more until it holds nothing, then processes one suspect alone. So a poison page kills one node at a time, and no
 * innocent page dies with it.
 */
import type { Lease } from '../frontier.js';
import { hold } from './holding.js';
import type { IncarnationEntry } from './incarnation-entry.js';
import { numberOf, Table } from './keys.js';
import { dueAtOf, place, startClock } from './placement.js';
import { decodeRequest } from './request-entry.js';
import type { Transaction } from './transaction.js';

/** Suspects looked at by one call at most. */
const LOOK_AT = 100;

/** Whether this incarnation is the volunteer now; then it gets the suspect, in `leases`, or nothing. */
export function volunteer(
  tx: Transaction,
  holder: IncarnationEntry,
  holding: number,
  leases: Lease[],
): boolean {
  const state = tx.state();
  if (state.volunteer !== 0 && state.volunteer !== holder.number) {
    const other = tx.incarnation(state.volunteer);
    if (other !== null && !other.isDead) return false;
    state.volunteer = 0;
  }
  if (state.volunteer === 0 && (state.suspects === 0 || eligible(tx) === null)) return false;
  state.volunteer = holder.number;
  if (holder.leased > 0 || holding > 0) return true;
  const key = eligible(tx);
  const lease = key === null ? null : take(tx, holder, key);
  if (lease === null) {
    state.volunteer = 0;
    return false;
  }
  leases.push(lease);
  return true;
}

/** When the nearest suspect may be leased, for whom it concerns; null when nobody waits for one. */
export function nextSuspectAtMs(tx: Transaction, holder: IncarnationEntry): number | null {
  const state = tx.state();
  if (state.suspects === 0 || (state.volunteer !== 0 && state.volunteer !== holder.number)) return null;
  let nearest: number | null = null;
  for (const key of suspectKeys(tx)) {
    const domain = domainOf(tx, key);
    if (domain === null || domain.active >= tx.meta().tunables.concurrencyPerDomain) continue;
    const dueAtMs = dueAtOf(tx, domain);
    if (dueAtMs > tx.nowMs && (nearest === null || dueAtMs < nearest)) nearest = dueAtMs;
  }
  return nearest;
}

/** The first suspect, in order, whose domain may be leased from. */
function eligible(tx: Transaction): Buffer | null {
  for (const key of suspectKeys(tx)) {
    const domain = domainOf(tx, key);
    if (domain === null) return key;
    if (domain.active < tx.meta().tunables.concurrencyPerDomain && dueAtOf(tx, domain) <= tx.nowMs)
      return key;
  }
  return null;
}

function take(tx: Transaction, holder: IncarnationEntry, key: Buffer): Lease | null {
  const number = numberOf(key);
  const bytes = tx.request(number);
  tx.deleteIndexed(key);
  tx.state().suspects -= 1;
  if (bytes === undefined) {
    tx.state().removed += 1;
    return null;
  }
  const domain = tx.ensureDomain(decodeRequest(bytes).domain);
  const lease = hold(tx, holder, domain, number);
  startClock(tx, domain);
  place(tx, domain);
  return lease;
}

function suspectKeys(tx: Transaction): readonly Buffer[] {
  return tx.firstOf(Table.suspect, LOOK_AT);
}

function domainOf(tx: Transaction, key: Buffer) {
  const bytes = tx.request(numberOf(key));
  return bytes === undefined ? null : tx.domain(decodeRequest(bytes).domain);
}
