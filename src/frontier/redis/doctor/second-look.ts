/**
 * A second look at requests that a walk found nowhere, or waiting twice. A request that moves between two steps is leased,
 * failed or done at one of them, or in a key that is walked later. What is in none of these at any step is in no queue.
 */
import { inChunks, type Weight } from '../../in-chunks.js';
import type { Call } from '../connection/calls.js';
import { repliesOf } from '../connection/client.js';
import { list } from '../connection/reply.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { type Step, steps } from './steps.js';

/** Requests of one walk. Each step reads the states of all of them. */
const GROUP = 500;
/** Delayed requests become pending, and pending ones delayed when they fail: both ways are covered. */
const walks = ['delayed', 'suspects', 'queue', 'suspects', 'delayed'] as const;
const stateOf = { delayed: 'delayed', suspects: 'pending', queue: 'pending' } as const;

interface Place {
  readonly place: (typeof walks)[number];
  readonly entry: Buffer;
}

/** @returns one sentence for each breach, of the first group that has any. */
export async function lookAgain(crawl: CrawlAccess, suspected: readonly Buffer[]): Promise<string[]> {
  const unexplained: Buffer[] = [];
  for (const group of inChunks(suspected, weigh, GROUP))
    unexplained.push(...(await notElsewhere(crawl.call, group)));
  let left = unexplained.length;
  for (const group of inChunks(unexplained, weigh, GROUP)) {
    const breaches = await confirm(crawl, group);
    left -= group.length;
    if (breaches.length === 0) continue;
    return left === 0
      ? breaches
      : [...breaches, `I1: up to ${left} more requests are in no queue, or in two`];
  }
  return [];
}

const weigh = ({ length }: Buffer): Weight => ({ count: 1, bytes: length });

/** Those that have a record and are neither leased nor failed, at one instant. */
async function notElsewhere(call: Call, ids: Buffer[]): Promise<Buffer[]> {
  const elsewhere = new Set<string>();
  for await (const step of steps(call, 'find_waiting', { ids })) addElsewhere(step, elsewhere);
  return ids.filter((id) => !elsewhere.has(keyOf(id)));
}

async function confirm(crawl: CrawlAccess, ids: Buffer[]): Promise<string[]> {
  const elsewhere = new Set<string>();
  const found = new Map(ids.map((id) => [keyOf(id), new Map<string, Place>()]));
  for (const place of walks) {
    for await (const step of steps(crawl.call, 'find_waiting', { place, ids })) {
      addElsewhere(step, elsewhere);
      const flat = list(step.found) as Buffer[];
      for (let n = 0; n < flat.length; n += 2) {
        const entry = flat[n + 1]!;
        found.get(keyOf(flat[n]!))?.set(`${place} ${keyOf(entry)}`, { place, entry });
      }
    }
  }
  const breaches: string[] = [];
  for (const id of ids) {
    const places = [...found.get(keyOf(id))!.values()];
    const name = id.toString('hex');
    if (places.length === 0 && !elsewhere.has(keyOf(id))) {
      breaches.push(`I1: the record of ${name} is in no queue: it would never be fetched`);
    }
    const states = places.length < 2 ? [] : await statesOf(crawl, places);
    if (states.length > 1) {
      breaches.push(`I1: request ${name} is in ${states.length} places: ${states.join(', ')}`);
    }
  }
  return breaches;
}

/** The states of the entries that are there, all at one instant. */
async function statesOf({ connection, options }: CrawlAccess, places: readonly Place[]): Promise<string[]> {
  const scores = await connection.patiently((client) => {
    const transaction = client.multi();
    for (const { place, entry } of places) transaction.zscore(internalKey(options.keys, place), entry);
    return repliesOf(transaction);
  });
  return places.filter((_, n) => scores[n] !== null).map(({ place }) => stateOf[place]);
}

function addElsewhere(step: Step, into: Set<string>): void {
  for (const id of list(step.elsewhere)) into.add(keyOf(id as Buffer));
}

const keyOf = (bytes: Buffer): string => bytes.toString('latin1');
