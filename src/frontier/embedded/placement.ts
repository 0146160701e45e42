/** Where a domain stands among its fellows, and what its delay is: the politeness of the crawl. */
import type { DomainEntry, Place } from './domain-entry.js';
import { DOMAIN_BYTES, HEAD_BYTES, keyOf, Table, writeUint53 } from './keys.js';
import { type Order, orderBytes, readOrder } from './order.js';
import type { Transaction } from './transaction.js';

/** No stored instant counts for more than this from now: a clock that jumped must block nothing for long. */
export const FURTHEST_MS = 24 * 60 * 60 * 1000;

/** The delay between two leases of a domain: the longest that any source asks for. */
export function delayOf(tx: Transaction, domain: DomainEntry): number {
  const own = domain.delaySettingMs >= 0 ? domain.delaySettingMs : tx.meta().tunables.delayMs;
  return Math.max(own, domain.delayRobotsMs, domain.delayAutoMs);
}

/** From when on the domain may be leased from. */
export function dueAtOf(tx: Transaction, domain: DomainEntry): number {
  return Math.min(Math.max(domain.nextAtMs, domain.blockedUntilMs), tx.nowMs + FURTHEST_MS);
}

/** Start the domain's clock after a lease. A randomized delay is never shorter than the delay itself. */
export function startClock(tx: Transaction, domain: DomainEntry): void {
  domain.lastAtMs = tx.nowMs;
  const delayMs = delayOf(tx, domain);
  if (delayMs === 0) return;
  domain.nextAtMs = tx.nowMs + delayMs * (tx.meta().tunables.randomizeDelay ? 1 + Math.random() / 2 : 1);
}

/** Put a domain where it belongs now, or forget it when nothing is left to remember. Marks it changed. */
export function place(tx: Transaction, domain: DomainEntry): void {
  const dueAtMs = dueAtOf(tx, domain);
  if (domain.queued > 0) {
    if (domain.active >= tx.meta().tunables.concurrencyPerDomain) moveTo(tx, domain, 'full', 0);
    else if (dueAtMs > tx.nowMs) moveTo(tx, domain, 'waiting', dueAtMs);
    else moveTo(tx, domain, 'ready', 0);
  } else {
    moveTo(tx, domain, 'idle', dueAtMs > tx.nowMs ? dueAtMs : 0);
    if (domain.placedAtMs === 0 && isForgettable(domain)) {
      tx.dropDomain(domain);
      return;
    }
  }
  tx.keepDomain(domain);
}

/** A domain with a delay of its own is kept: forgetting it would forget the politeness. */
function isForgettable(domain: DomainEntry): boolean {
  return (
    domain.active === 0 && domain.delaySettingMs < 0 && domain.delayRobotsMs === 0 && domain.delayAutoMs === 0
  );
}

/** The only writer of the three indexes of domains. */
function moveTo(tx: Transaction, domain: DomainEntry, to: Place, atMs: number): void {
  const stays =
    domain.place === to &&
    domain.placedAtMs === atMs &&
    (to !== 'ready' ||
      (domain.placedOrder.rank === domain.head.rank && domain.placedOrder.turn === domain.head.turn));
  if (stays) return;
  const before = indexKey(tx, domain);
  if (before !== null) {
    tx.deleteIndexed(before);
    tx.state()[counterOf(domain)] -= 1;
  }
  domain.place = to;
  domain.placedAtMs = atMs;
  domain.placedOrder = domain.head;
  const now = indexKey(tx, domain);
  if (now === null) return;
  tx.putIndexed(now);
  tx.state()[counterOf(domain)] += 1;
}

/** How many domains stand where this one does, in an index. */
function counterOf({ place }: DomainEntry): 'readyDomains' | 'waitingDomains' | 'idleDomains' {
  return place === 'ready' ? 'readyDomains' : place === 'waiting' ? 'waitingDomains' : 'idleDomains';
}

/** Where the domain stands in an index, if in any. */
export function indexKey(tx: Transaction, domain: DomainEntry): Buffer | null {
  const { hash } = domain.id;
  const { crawl } = tx.spaces;
  if (domain.place === 'ready') return keyOf(Table.ready, crawl, orderBytes(domain.placedOrder), hash);
  if (domain.placedAtMs === 0) return null;
  return timedKey(domain.place === 'waiting' ? Table.waiting : Table.idle, crawl, domain.placedAtMs, hash);
}

/** A key that sorts by an instant in ms, to the microsecond. */
function timedKey(table: Table, space: Buffer, atMs: number, part: Buffer): Buffer {
  const at = Buffer.allocUnsafe(8);
  writeUint53(at, Math.round(atMs * 1000), 0);
  return keyOf(table, space, at, part);
}

/** The domain whose best request is the best of all, and the best order of the next one; null when none is ready. */
export function bestReady(tx: Transaction): { domain: DomainEntry; rival: Order | null } | null {
  if (tx.state().readyDomains === 0) return null;
  const [first, second] = tx.firstOf(Table.ready, 2);
  if (first === undefined) return null;
  const domain = tx.domainByHash(first.subarray(first.length - DOMAIN_BYTES));
  if (domain === null) {
    tx.deleteIndexed(first);
    tx.state().readyDomains -= 1;
    return bestReady(tx);
  }
  return { domain, rival: second === undefined ? null : readOrder(second, HEAD_BYTES) };
}
