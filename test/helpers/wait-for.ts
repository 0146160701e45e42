/** Waiting for a condition, with a bound: what tests use instead of a fixed sleep. */
import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait and what to say when it was in vain. */
export interface WaitOptions {
  /** Default 20,000: a bound for a busy machine, not an expectation. */
  readonly timeoutMs?: number;
  /** Between two looks; default 10. */
  readonly intervalMs?: number;
  /** What was waited for, for the error. */
  readonly what?: string;
}

/**
 * Ask again until the answer is neither false, null nor undefined; an exception counts as "not yet".
 * @returns that answer. @throws Error naming `what` and the last answer when the time is up.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 20_000, intervalMs = 10, what = 'a condition' }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await condition();
      if (answer !== false && answer !== null && answer !== undefined) {
        return answer as Exclude<T, false | null | undefined>;
      }
      last = answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() >= deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}; last answer: ${String(last)}`, {
        cause: last,
      });
    }
    await sleep(intervalMs);
  }
}
