/**
 * A second look at requests that a walk found nowhere, or waiting twice. A request that moves between two steps is leased,
 * failed or done at one of them, or in a key that is walked later. What is in none of these at any step is in no queue.
 */
import type { WaitingState } from '../../care/care-store.js';
import { repliesOf } from '../connection/client.js';
import { list } from '../connection/reply.js';
import { pairs } from '../connection/scan.js';
import { steps } from '../crawl/steps.js';
import type { CrawlAccess } from '../crawl-access.js';
import { internalKey } from '../keys.js';

/** Delayed requests become pending, and pending ones delayed when they fail: both ways are covered. */
const walks = ['delayed', 'suspects', 'queue', 'suspects', 'delayed'] as const;
const stateOf = { delayed: 'delayed', suspects: 'pending', queue: 'pending' } as const;

interface Place {
  readonly place: (typeof walks)[number];
  readonly entry: Buffer;
}

/** @returns the requests that are in no queue, or in several, with the states they wait in. */
export async function misplaced(
  crawl: CrawlAccess,
  ids: readonly Buffer[],
): Promise<{ id: Buffer; states: WaitingState[] }[]> {
  const found = new Map(ids.map((id) => [keyOf(id), new Map<string, Place>()]));
  let unmoved = new Set(found.keys());
  for (const place of walks) {
    for await (const step of steps(crawl.call, 'examine', { place, ids })) {
      unmoved = new Set((list(step.waiting) as Buffer[]).map(keyOf).filter((key) => unmoved.has(key)));
      for (const [id, entry] of pairs(list(step.found) as Buffer[]))
        found.get(keyOf(id))?.set(`${place} ${keyOf(entry)}`, { place, entry });
    }
  }
  const wrong: { id: Buffer; states: WaitingState[] }[] = [];
  for (const id of ids) {
    const entries = [...found.get(keyOf(id))!.values()];
    const states = entries.length < 2 ? [] : await statesOf(crawl, entries);
    if (states.length > 1 || (entries.length === 0 && unmoved.has(keyOf(id)))) wrong.push({ id, states });
  }
  return wrong;
}

/** The states of the entries that are there, all at one instant. */
async function statesOf(
  { connection, options }: CrawlAccess,
  places: readonly Place[],
): Promise<WaitingState[]> {
  const scores = await connection.patiently((client) => {
    const transaction = client.multi();
    for (const { place, entry } of places) transaction.zscore(internalKey(options.keys, place), entry);
    return repliesOf(transaction);
  });
  return places.filter((_, n) => scores[n] !== null).map(({ place }) => stateOf[place]);
}

const keyOf = (bytes: Buffer): string => bytes.toString('latin1');
