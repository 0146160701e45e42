/** A walk through a key by a verb, in steps short enough that a running crawl does not notice them. */
import type { Call } from '../connection/calls.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, type Reply, text } from '../connection/reply.js';

/** Entries of a step: it takes the server some ms. */
const MOST = 500;
/** Requests of any size stand in one key, and no step copies much more than this. */
const MOST_BYTES = 2_000_000;

/** Entries of the first step through requests, whose size is not known yet. */
export const FIRST_RECORDS = 50;

export type Step = Readonly<Record<string, Reply | undefined>>;

/**
 * The answers by name, each with the `cursor` of the next step. What is there all the time is in one of them at least.
 * @param verb that takes `cursor` and `count`, and the word of a key as `place`. @param count of entries in the first step.
 */
export async function* steps(
  call: Call,
  verb: string,
  args: Arguments & { readonly place: string },
  count = MOST,
): AsyncGenerator<Step> {
  let cursor = '0';
  let most = count;
  do {
    const step = named(await call(verb, { ...args, cursor, count: most }));
    if (step.bytes !== undefined) most = nextCount(most, int(step.bytes));
    cursor = text(step.cursor);
    yield step;
  } while (cursor !== '0');
}

/** As many as come to the limit when they are of the size of the last ones. */
function nextCount(count: number, bytes: number): number {
  return Math.max(1, Math.min(Math.floor((count * MOST_BYTES) / Math.max(1, bytes)), MOST));
}
