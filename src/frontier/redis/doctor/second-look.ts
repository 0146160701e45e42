/**
 * A second look at requests that a walk found nowhere, or waiting twice. A request that moves between two steps is leased,
 * failed or done at one of them, or in a key that is walked later. What is in none of these at any step is in no queue.
 */
import { inChunks } from '../../in-chunks.js';
import { repliesOf } from '../connection/client.js';
import { list, named } from '../connection/reply.js';
import { pairs } from '../connection/scan.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';
import { steps } from '../read/steps.js';

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
  // Most have moved on: they are leased, failed or done by now.
  for (const ids of groupsOf(suspected)) {
    const { waiting } = named(await crawl.call('examine', { ids }));
    unexplained.push(...(list(waiting) as Buffer[]));
  }
  let left = unexplained.length;
  for (const ids of groupsOf(unexplained)) {
    const breaches = await confirm(crawl, ids);
    left -= ids.length;
    if (breaches.length === 0) continue;
    return left === 0
      ? breaches
      : [...breaches, `I1: up to ${left} more requests are in no queue, or in two`];
  }
  return [];
}

const groupsOf = (ids: readonly Buffer[]) =>
  inChunks(ids, ({ length }) => ({ count: 1, bytes: length }), GROUP);

async function confirm(crawl: CrawlAccess, ids: Buffer[]): Promise<string[]> {
  const found = new Map(ids.map((id) => [keyOf(id), new Map<string, Place>()]));
  let unmoved = new Set(found.keys());
  for (const place of walks) {
    for await (const step of steps(crawl.call, 'examine', { place, ids })) {
      unmoved = new Set((list(step.waiting) as Buffer[]).map(keyOf).filter((key) => unmoved.has(key)));
      for (const [id, entry] of pairs(list(step.found) as Buffer[])) {
        found.get(keyOf(id))?.set(`${place} ${keyOf(entry)}`, { place, entry });
      }
    }
  }
  const breaches: string[] = [];
  for (const id of ids) {
    const places = [...found.get(keyOf(id))!.values()];
    const name = id.toString('hex');
    if (places.length === 0 && unmoved.has(keyOf(id))) {
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

const keyOf = (bytes: Buffer): string => bytes.toString('latin1');
