/**
 * Reads of the store, each made once for all who look: whoever asks while one is under way waits for the same, and what was
 * read is fresh for a time. So the load on the store does not grow with the number of viewers.
 *
 * While the store does not answer, the last value stands, with the instant of its reading and the error.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FrontierUnavailableError } from '../errors.js';

/** A value, and how it was come by. */
export interface Reading<T> {
  readonly value: T;
  /** When it was read, in ms since 1970. */
  readonly atMs: number;
  /** Why there is no newer one; null while the store answers. */
  readonly failure: Error | null;
}

/** A read that takes long is repeated so rarely that it is under way for at most a twentieth of the time. */
const REST_PER_READ = 20;
const LONGEST_REST_MS = 60_000;
/** A read that is not over by then is a failure for those who wait. It goes on, since the store may come back. */
const PATIENCE_MS = 3_000;
/** Where nothing older can be shown: opening hundreds of crawls takes seconds. */
const FIRST_PATIENCE_MS = 10_000;
/** Different filters of lists are different reads; those used last are kept. */
const MOST_KEPT = 200;

interface Entry {
  last: {
    readonly value: unknown;
    readonly atMs: number;
    readonly readMs: number;
    readonly endedMs: number;
  } | null;
  failure: Error | null;
  reading: Promise<void> | null;
}

export class SharedReads {
  readonly #entries = new Map<string, Entry>();

  /**
   * @param key names what `read` reads
   * @param freshMs for how long a value is given out without reading anew
   * @throws what `read` throws, and FrontierUnavailableError for one that takes too long, where there is no earlier value
   */
  async get<T>(key: string, freshMs: number, read: () => Promise<T>): Promise<Reading<T>> {
    const entry = this.#entry(key);
    if (entry.reading === null && !isFresh(entry, freshMs)) entry.reading = run(entry, read);
    if (entry.reading !== null) {
      const isLate = await Promise.race([entry.reading.then(() => false), late(entry)]);
      if (isLate) entry.failure = new FrontierUnavailableError('the store does not answer');
    }
    const { last, failure } = entry;
    if (last === null) throw failure ?? new FrontierUnavailableError('the store does not answer');
    return { value: last.value as T, atMs: last.atMs, failure };
  }

  /** Read anew what somebody has just changed: all whose key begins so. */
  forget(prefix: string): void {
    for (const [key, { last }] of this.#entries)
      if (key.startsWith(prefix) && last !== null) this.#entries.delete(key);
  }

  #entry(key: string): Entry {
    const entry = this.#entries.get(key) ?? { last: null, failure: null, reading: null };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > MOST_KEPT) this.#entries.delete(this.#entries.keys().next().value!);
    return entry;
  }
}

function isFresh({ last, failure }: Entry, freshMs: number): boolean {
  if (last === null || failure !== null) return false;
  const restMs = Math.max(freshMs, Math.min(LONGEST_REST_MS, last.readMs * REST_PER_READ));
  return performance.now() - last.endedMs < restMs;
}

/** Never rejects: those who wait find the error in the entry. */
async function run(entry: Entry, read: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  try {
    const value = await read();
    const endedMs = performance.now();
    entry.last = { value, atMs: Date.now(), readMs: endedMs - startedMs, endedMs };
    entry.failure = null;
  } catch (error) {
    entry.failure = error as Error;
  } finally {
    entry.reading = null;
  }
}

async function late({ last }: Entry): Promise<true> {
  await sleep(last === null ? FIRST_PATIENCE_MS : PATIENCE_MS, undefined, { ref: false });
  return true;
}
