/** A walk through a large key by a verb, in steps short enough that a running crawl does not notice them. */
import type { Call } from '../connection/calls.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, type Reply, text } from '../connection/reply.js';

/** Entries of a step: it takes the server some ms. */
const MOST = 500;
/** Requests of any size stand in one key, so the first step is small, and no later one copies much more than this. */
const [FIRST_RECORDS, MOST_BYTES] = [50, 2_000_000];

export type Step = Readonly<Record<string, Reply | undefined>>;

/** The answers by name, each with the `cursor` of the next step. What is there all the time is in one of them at least. */
export async function* steps(call: Call, verb: string, args: Arguments): AsyncGenerator<Step> {
  let cursor = '0';
  let count = verb === 'examine_requests' ? FIRST_RECORDS : MOST;
  do {
    const step = named(await call(verb, { ...args, cursor, count }));
    if (step.bytes !== undefined) count = nextCount(count, int(step.bytes));
    cursor = text(step.cursor);
    yield step;
  } while (cursor !== '0');
}

/** As many as come to the limit when they are of the size of the last ones. */
function nextCount(count: number, bytes: number): number {
  return Math.max(1, Math.min(Math.floor((count * MOST_BYTES) / Math.max(1, bytes)), MOST));
}
