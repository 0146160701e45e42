/** Calls to a store that may be away: tried again with backoff, and logged once for each outage, not for each attempt. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { FrontierUnavailableError } from '../../errors.js';
import type { Logger } from '../../log.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

export class Outage {
  readonly #log: Logger;
  /**
   * The verbs that fail now. An outage ends when all of them succeed again: a store that is out of memory accepts settles
   * and refuses leases, and each change would be a log line otherwise.
   */
  readonly #failing = new Set<string>();
  #sinceMs = 0;
  #why: string | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The error message of the current outage; null when there is none. */
  get why(): string | null {
    return this.#why;
  }

  /**
   * Call until the store answers, at most every 50 ms and at least every 2 s. Every verb of the frontier is safe
   * to repeat. @param verb names the call for the bookkeeping. @param stop ends the attempts: the last error is thrown.
   */
  async through<T>(verb: string, stop: AbortSignal, call: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await call();
        if (this.#failing.size > 0) this.#over(verb);
        return answer;
      } catch (error) {
        if (!(error instanceof FrontierUnavailableError)) throw error;
        this.#began(verb, error);
        if (stop.aborted) throw error;
        // Every page that ends waits here; Node warns from the eleventh listener of a signal on.
        setMaxListeners(0, stop);
        await sleep(backoffMs(attempt), undefined, { signal: stop, ref: true }).catch(() => {});
        if (stop.aborted) throw error;
      }
    }
  }

  #began(verb: string, error: FrontierUnavailableError): void {
    if (this.#failing.size === 0) {
      this.#sinceMs = performance.now();
      this.#log.warn({ verb, error: error.message }, 'the frontier cannot be reached; waiting for it');
    }
    this.#failing.add(verb);
    this.#why = error.message;
  }

  #over(verb: string): void {
    if (!this.#failing.delete(verb) || this.#failing.size > 0) return;
    this.#why = null;
    const afterMs = Math.round(performance.now() - this.#sinceMs);
    this.#log.info({ afterMs }, 'the frontier can be reached again');
  }
}

function backoffMs(attempt: number): number {
  const cap = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 10));
  return cap / 2 + (cap / 2) * Math.random();
}
