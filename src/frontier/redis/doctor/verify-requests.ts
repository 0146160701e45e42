/**
 * I1: each record is in exactly one state, and no state is without a record (except failed ones past FAILED_LIMIT). What
 * one step shows is exact. That a request is nowhere, or waits twice, shows only when all steps are compared, between
 * which a running crawl moves requests. So these are looked at again (`second-look.ts`).
 */
import { hex, int, list, text } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { lookAgain } from './second-look.js';
import { type Step, steps } from './steps.js';
import { WaitingIds } from './waiting-ids.js';

/** Where requests wait, and how their state is called. */
const waitingPlaces = { delayed: 'delayed', suspects: 'pending', queue: 'pending' } as const;

/** @returns one sentence for each breach. */
export async function checkRequests(crawl: CrawlAccess): Promise<string[]> {
  const { call } = crawl;
  const waiting = new WaitingIds();
  for await (const { ids } of steps(call, 'examine_requests', {})) {
    for (const id of list(ids)) waiting.expect(id as Buffer);
  }
  const breaches: string[] = [];
  const twice: Buffer[] = [];
  const domainless = new Map<string, number>();
  for (const [place, state] of Object.entries(waitingPlaces)) {
    for await (const step of steps(call, 'examine_entries', { place })) {
      for (const id of list(step.ids) as Buffer[]) if (waiting.meet(id)) twice.push(id);
      breaches.push(...breachesOf(step, state));
      countDomains(step, domainless);
    }
  }
  for await (const step of steps(call, 'examine_entries', { place: 'leases' })) {
    breaches.push(...breachesOf(step, 'leased'));
  }
  for (const [name, entries] of domainless) {
    breaches.push(`I7: ${name} has ${entries} pending requests and no record`);
  }
  return [...breaches, ...(await lookAgain(crawl, [...twice, ...waiting.unmet()]))];
}

function breachesOf({ recordless, leased, failed, unreadable }: Step, state: string): string[] {
  const others = new Map<string, string[]>();
  for (const [other, ids] of Object.entries({ leased, failed })) {
    for (const id of list(ids)) others.set(hex(id), [...(others.get(hex(id)) ?? [state]), other]);
  }
  return [
    ...list(recordless).map((id) => `I1: ${state} request ${hex(id)} has no record`),
    ...[...others].map(
      ([id, found]) => `I1: request ${id} is in ${found.length} places: ${found.join(', ')}`,
    ),
    ...Array.from({ length: int(unreadable) }, () => 'I7: an entry of the queue cannot be read'),
  ];
}

function countDomains({ domains }: Step, into: Map<string, number>): void {
  const flat = list(domains);
  for (let n = 0; n < flat.length; n += 2) {
    const name = text(flat[n]);
    into.set(name, (into.get(name) ?? 0) + int(flat[n + 1]));
  }
}
