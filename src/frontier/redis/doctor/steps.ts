/** A walk through a large key by a verb, in steps short enough that a running crawl does not notice them. */
import type { Call } from '../connection/calls.js';
import type { Arguments } from '../connection/lua-message.js';
import { int, named, type Reply, text } from '../connection/reply.js';

/** Entries of a step: it takes the server some ms. */
const MOST = 500;
/** A domain is compared with its queue, which takes about ten times as long as any other entry. */
const MOST_DOMAINS = 100;
/** Requests of any size stand in one key, so the first step is small, and no later one copies much more than this. */
const [FIRST_RECORDS, MOST_BYTES] = [50, 2_000_000];

export type Step = Readonly<Record<string, Reply | undefined>>;

/** The answers by name, each with the `cursor` of the next step. What is there all the time is in one of them at least. */
export async function* steps(call: Call, verb: string, args: Arguments): AsyncGenerator<Step> {
  let cursor = '0';
  let count = firstCount(verb);
  do {
    const step = named(await call(verb, { ...args, cursor, count }));
    if (step.bytes !== undefined) count = nextCount(count, int(step.bytes));
    cursor = text(step.cursor);
    yield step;
  } while (cursor !== '0');
}

function firstCount(verb: string): number {
  if (verb === 'examine_requests') return FIRST_RECORDS;
  return verb === 'examine_domains' ? MOST_DOMAINS : MOST;
}

/** As many as come to the limit when they are of the size of the last ones. */
function nextCount(count: number, bytes: number): number {
  return Math.max(1, Math.min(Math.floor((count * MOST_BYTES) / Math.max(1, bytes)), MOST));
}
