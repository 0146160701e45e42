/** I7: the record of each domain agrees with its queue, and with the keys `ready` and `waiting`. Each step is exact. */
import type { Call } from '../connection/calls.js';
import { list, text } from '../connection/reply.js';
import { readEntry } from '../read/records.js';
import { steps } from './steps.js';

/** The sentences of the faults that `lua/doctor/examine-domains.lua` finds. */
const sentences: Readonly<Record<string, (name: string, state: string) => string>> = {
  unreadable: (name) => `the record of the domain ${name} cannot be read`,
  head: (name) => `${name} does not know its best request`,
  idle: (name) => `${name} has pending requests and is idle: they would never be leased`,
  'not ready': (name) => `${name} says it is ready, and its best request is not among the ready`,
  ready: (name, state) => `${name} says it is ${state}, and is among the ready`,
  'not waiting': (name) => `${name} says it is waiting, and is not among the waiting`,
  waiting: (name, state) => `${name} says it is ${state}, and is among the waiting`,
  instant: (name) => `${name} waits until another instant than its record says`,
};

export interface ExaminedDomains {
  /** One sentence for each. */
  readonly breaches: readonly string[];
  /** The domains that say they have leases, or are full. */
  readonly busy: readonly string[];
}

export async function checkDomains(call: Call): Promise<ExaminedDomains> {
  const breaches: string[] = [];
  const busy = new Set<string>();
  for await (const step of steps(call, 'examine_domains', {})) {
    for (const name of list(step.busy)) busy.add(text(name));
    const faults = list(step.faults).map(text);
    for (let n = 0; n < faults.length; n += 3) {
      const [what, name, state] = faults.slice(n, n + 3) as [string, string, string];
      breaches.push(`I7: ${sentences[what]!(name, state)}`);
    }
  }
  for await (const { strangers } of steps(call, 'examine_schedule', { place: 'ready' })) {
    for (const entry of list(strangers) as Buffer[]) {
      const name = readEntry(entry).domain || entry.toString('hex');
      breaches.push(`I7: an entry among the ready is of no domain's best request: ${name}`);
    }
  }
  for await (const { strangers } of steps(call, 'examine_schedule', { place: 'waiting' })) {
    for (const name of list(strangers))
      breaches.push(`I7: ${text(name)} is among the waiting and has no record`);
  }
  return { breaches, busy: [...busy] };
}
