/** Ctrl-C in commands that are not a crawl. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time for batches in flight after a signal. An input that blocks must not delay the exit further. */
const LAST_BATCHES_MS = 2_000;

/**
 * For a command that pushes a long input: reading stops, and the command reports what was pushed.
 *
 * Run `work` until it is done. The first SIGINT or SIGTERM aborts `stop`, and this returns `LAST_BATCHES_MS` later at the
 * latest. A second signal kills the process.
 * @returns 130 or 143 after a signal, else null
 * @throws what `work` throws
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
    // Errors of abandoned work must not become unhandled rejections.
    working.catch(() => {});
    await Promise.race([working, interrupted]);
    return code;
  } finally {
    for (const signal of signals) process.off(signal, heard);
  }
}

/** For a command that has no state to save: a signal aborted by the first SIGINT or SIGTERM; a second one of the same kind kills the process. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
