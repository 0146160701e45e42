/** I6 and I7: the record of each domain agrees with its leases, its queue, and the keys `ready` and `waiting`. */
import { readEntry } from '../read/records.js';
import type { View } from './view.js';

const ORDER_BYTES = 12;

/** The state of a domain, computed from its queue and its leases. */
interface ComputedDomain {
  readonly pending: number;
  /** The order of its first request; null for none. */
  readonly best: Buffer | null;
  readonly leased: number;
}

export function checkDomains(view: View): string[] {
  const shown = showDomains(view);
  const breaches: string[] = [];
  for (const [name, domain] of view.domains) {
    const { pending, best, leased } = shown.get(name) ?? { pending: 0, best: null, leased: 0 };
    shown.delete(name);
    if (domain.active !== leased) {
      breaches.push(`I6: ${name} has ${leased} leased requests and an active count of ${domain.active}`);
    }
    // When two requests have the same order, either may be the head.
    if (!domain.head.subarray(0, ORDER_BYTES).equals(best ?? Buffer.alloc(0))) {
      breaches.push(`I7: ${name} does not know its best request`);
    }
    if (domain.state === 'idle' && pending > 0) {
      breaches.push(`I7: ${name} has pending requests and is idle: they would never be leased`);
    }
    if (domain.state === 'full' && leased === 0) breaches.push(`I7: ${name} is full with nothing leased`);
  }
  for (const [name, { pending, leased }] of shown) {
    if (pending > 0) breaches.push(`I7: ${name} has ${pending} pending requests and no record`);
    if (leased > 0) breaches.push(`I6: ${name} has ${leased} leased requests and no record`);
  }
  return [...breaches, ...checkReady(view), ...checkWaiting(view)];
}

function showDomains({ queue, leases }: View): Map<string, ComputedDomain> {
  const shown = new Map<string, ComputedDomain>();
  const of = (name: string): ComputedDomain => shown.get(name) ?? { pending: 0, best: null, leased: 0 };
  for (const { domain, order } of queue) {
    const { pending, best, leased } = of(domain);
    shown.set(domain, { pending: pending + 1, best: best ?? order, leased });
  }
  for (const { domain } of leases.values()) {
    const before = of(domain);
    shown.set(domain, { ...before, leased: before.leased + 1 });
  }
  return shown;
}

/** `ready` has one entry for each ready domain, with its first request, and no others. */
function checkReady({ ready, domains }: View): string[] {
  const entries = new Set(ready.map((entry) => entry.toString('hex')));
  const breaches: string[] = [];
  for (const [name, { state, head }] of domains) {
    const isThere = entries.delete(Buffer.concat([head, Buffer.from(name)]).toString('hex'));
    if (state === 'ready' && !isThere)
      breaches.push(`I7: ${name} says it is ready, and its best request is not among the ready`);
    if (state !== 'ready' && isThere)
      breaches.push(`I7: ${name} says it is ${state}, and is among the ready`);
  }
  for (const entry of entries) {
    const { domain } = readEntry(Buffer.from(entry, 'hex'));
    breaches.push(`I7: an entry among the ready is of no domain's best request: ${domain || entry}`);
  }
  return breaches;
}

/** `waiting` has each waiting domain with the instant of its record, and no others. */
function checkWaiting({ waiting, domains }: View): string[] {
  const breaches: string[] = [];
  for (const [name, { state, dueAtMs }] of domains) {
    const atMs = waiting.get(name);
    if (state !== 'waiting' && atMs === undefined) continue;
    if (state !== 'waiting') breaches.push(`I7: ${name} says it is ${state}, and is among the waiting`);
    else if (atMs === undefined)
      breaches.push(`I7: ${name} says it is waiting, and is not among the waiting`);
    else if (!(Math.abs(atMs - dueAtMs) <= 1))
      breaches.push(`I7: ${name} waits until another instant than its record says`);
  }
  for (const name of waiting.keys()) {
    if (!domains.has(name)) breaches.push(`I7: ${name} is among the waiting and has no record`);
  }
  return breaches;
}
