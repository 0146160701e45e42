/** Ctrl-C on a command that pushes a long input: it ends the input, and the command says what was taken. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** For batches on their way; an input that gives nothing more must not hold the command up. */
const LAST_BATCHES_MS = 2_000;

/**
 * Work until it is done, or until a moment after the first SIGINT or SIGTERM, which aborts `stop`; the second ends the
 * process as ever.
 * @returns 130 or 143 when a signal came, else null. @throws what the work throws.
 */
export async function runUntilSignal(work: (stop: AbortSignal) => Promise<void>): Promise<number | null> {
  const stop = new AbortController();
  let code: number | null = null;
  let onStop: () => void = () => {};
  const interrupted = new Promise<void>((resolve) => {
    onStop = () => resolve(sleep(LAST_BATCHES_MS));
  });
  const heard = (signal: NodeJS.Signals) => {
    code = 128 + os.constants.signals[signal];
    stop.abort();
    onStop();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, heard);
  try {
    const working = work(stop.signal);
    // What is given up must not be heard of afterwards.
    working.catch(() => {});
    await Promise.race([working, interrupted]);
    return code;
  } finally {
    for (const signal of signals) process.off(signal, heard);
  }
}
