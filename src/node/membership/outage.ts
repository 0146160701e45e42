/**
 * Calls to a store that may be away: tried again with backoff. An outage is logged when it begins, once a minute, and when it
 * is over. A store that fails on and off has one outage: a full disk takes small writes and refuses large ones.
 * An outage that lasts for WAIT_TIMEOUT, or until the time budget of the run is used up, ends the node.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../../error-codes.js';
import { FrontierUnavailableError, messageOf, WaitedTooLongError } from '../../errors.js';
import type { Logger } from '../../log.js';

const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/** Defaults of the times between log lines, in ms. */
const times = { sayAgainMs: 60_000, flapsWithinMs: 10_000, stableMs: 5_000 };

/** What is wrong, as its log line begins and goes on, for codes of errors that are no failure of the connection. */
const headlines: Partial<Record<ErrorCode, readonly [string, string]>> = {
  disk_full: ['the disk is full; waiting for room', 'the disk is still full; waiting for room'],
  unauthorized: [
    'the store answers, and refuses the rights of its user; waiting for them',
    'the store still refuses the rights of its user; waiting for them',
  ],
  eviction_policy: [
    'Redis may evict the frontier; waiting for another policy',
    'Redis still may evict the frontier; waiting for another policy',
  ],
};
const away = [
  'the frontier cannot be reached; waiting for it',
  'the frontier still cannot be reached; waiting for it',
] as const;

/** How long to wait for a store, by the clock of this node: that of the store is away too. 0 is without limit. */
export interface WaitLimits {
  /** WAIT_TIMEOUT, from the first call that was not answered. */
  readonly waitTimeoutMs: number;
  /** CLOSESPIDER_TIMEOUT, from the start of this node. */
  readonly maxRunMs: number;
}

const noLimits: WaitLimits = { waitTimeoutMs: 0, maxRunMs: 0 };

export class Outage {
  readonly #log: Logger;
  readonly #limits: WaitLimits;
  readonly #startedAt = performance.now();
  /**
   * The verbs that fail now. An outage ends when all of them succeed again: a store that is out of memory accepts settles
   * and refuses leases, and each change would be a log line otherwise.
   */
  readonly #failing = new Set<string>();
  readonly #times: typeof times;
  #sinceMs = 0;
  #saidMs = 0;
  #backMs = Number.NEGATIVE_INFINITY;
  #isFlapping = false;
  #stable: NodeJS.Timeout | null = null;
  #why: string | null = null;
  /** The last one. */
  #error: FrontierUnavailableError | null = null;

  constructor(log: Logger, limits: WaitLimits = noLimits, spans: Partial<typeof times> = {}) {
    this.#log = log;
    this.#limits = limits;
    this.#times = { ...times, ...spans };
  }

  /** The error message of the current outage; null when there is none. */
  get why(): string | null {
    return this.#why;
  }

  /** Whether the store answers, and its disk or memory is full. */
  get isFull(): boolean {
    if (this.#why === null || this.#error === null) return false;
    const { code, cause } = this.#error;
    return code === 'disk_full' || messageOf(cause).startsWith('OOM');
  }

  /**
   * Call until the store answers, at most every 50 ms and at least every 2 s. Every verb of the frontier is safe
   * to repeat. @param verb names the call for the bookkeeping. @param stop ends the attempts: the last error is thrown.
   * @throws WaitedTooLongError when the outage has lasted for too long
   */
  async through<T>(verb: string, stop: AbortSignal, call: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const calledAtMs = performance.now();
      try {
        const answer = await (this.#failing.size > 0 ? this.#inTime(call()) : call());
        if (this.#failing.size > 0) this.#over(verb);
        return answer;
      } catch (error) {
        if (!(error instanceof FrontierUnavailableError)) throw error;
        this.#began(verb, error, calledAtMs);
        if (stop.aborted) throw error;
        this.#refuseToWaitOn(error);
        // Every page that ends waits here; Node warns from the eleventh listener of a signal on.
        setMaxListeners(0, stop);
        await sleep(Math.min(backoffMs(attempt), this.#leftMs()), undefined, {
          signal: stop,
          ref: true,
        }).catch(() => {});
        if (stop.aborted) throw error;
      }
    }
  }

  /** A call that hangs must not outlast the limits. When it is answered later, nobody hears. */
  async #inTime<T>(call: Promise<T>): Promise<T> {
    const leftMs = this.#leftMs();
    if (leftMs === Number.POSITIVE_INFINITY) return call;
    call.catch(() => {});
    const timer = new AbortController();
    const late = sleep(leftMs, null, { signal: timer.signal }).then(() => {
      throw this.#error;
    });
    late.catch(() => {});
    try {
      return await Promise.race([call, late]);
    } finally {
      timer.abort();
    }
  }

  #leftMs(): number {
    const { waitTimeoutMs, maxRunMs } = this.#limits;
    const until = (limitMs: number, sinceMs: number) =>
      limitMs > 0 ? sinceMs + limitMs : Number.POSITIVE_INFINITY;
    const endsAtMs = Math.min(until(waitTimeoutMs, this.#sinceMs), until(maxRunMs, this.#startedAt));
    return Math.max(0, endsAtMs - performance.now());
  }

  #began(verb: string, error: FrontierUnavailableError, calledAtMs: number): void {
    const isNew = this.#failing.size === 0 && this.#stable === null;
    if (this.#stable !== null) clearTimeout(this.#stable);
    this.#stable = null;
    this.#failing.add(verb);
    this.#why = error.message;
    this.#error = error;
    const now = performance.now();
    if (isNew) {
      this.#sinceMs = calledAtMs;
      this.#isFlapping = now - this.#backMs < this.#times.flapsWithinMs;
    } else if (now - this.#saidMs < this.#times.sayAgainMs) return;
    this.#saidMs = now;
    const [begun, goesOn] = headlines[error.code] ?? away;
    const what = isNew ? begun : goesOn;
    const forMs = isNew ? {} : { forMs: Math.round(now - this.#sinceMs) };
    this.#log.warn({ verb, error: error.message, ...forMs }, what);
  }

  #refuseToWaitOn({ code, message }: FrontierUnavailableError): void {
    const { waitTimeoutMs, maxRunMs } = this.#limits;
    const now = performance.now();
    const refuse = (how: string) => {
      throw new WaitedTooLongError(code, `${message}; ${how}`);
    };
    if (waitTimeoutMs > 0 && now - this.#sinceMs >= waitTimeoutMs) {
      refuse(`waited ${waitTimeoutMs / 1_000} s for it (WAIT_TIMEOUT)`);
    }
    if (maxRunMs > 0 && now - this.#startedAt >= maxRunMs) {
      refuse(
        `the ${maxRunMs / 1_000} s of this run (CLOSESPIDER_TIMEOUT) were over while this node waited for it`,
      );
    }
  }

  #over(verb: string): void {
    if (!this.#failing.delete(verb) || this.#failing.size > 0) return;
    this.#why = null;
    if (this.#isFlapping) {
      this.#stable = setTimeout(() => this.#sayBack(), this.#times.stableMs);
      this.#stable.unref();
    } else this.#sayBack();
  }

  #sayBack(): void {
    this.#stable = null;
    this.#backMs = performance.now();
    const afterMs = Math.round(this.#backMs - this.#sinceMs);
    this.#log.info({ afterMs }, 'the frontier can be reached again');
  }
}

function backoffMs(attempt: number): number {
  const cap = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(attempt, 10));
  return cap / 2 + (cap / 2) * Math.random();
}
