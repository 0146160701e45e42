/**
 * SIGINT and SIGTERM. The first signal drains the node: it finishes the pages in progress. The second releases its leases and
 * exits at once. A worker gets the same requests from its parent; a duplicate request has no effect.
 */
import os from 'node:os';
import { exit } from '../exit-process.js';

export interface Signals {
  /** Aborted by the first signal: finish the pages in progress. */
  readonly drain: AbortSignal;
  /** Aborted by the second signal: exit at once. */
  readonly force: AbortSignal;
  /** The rest of the grace time while draining. At least `DEREGISTER_MS`, unless the grace time is shorter. */
  graceLeftMs(graceMs: number): number;
  /** 130 or 143 after a forced exit was requested, else null. */
  forcedCode(): number | null;
  /** The same as the first signal. */
  requestDrain(): void;
  /** The same as the second signal. */
  requestForce(signal: NodeJS.Signals): void;
  /** Remove the signal handlers. */
  dispose(): void;
}

/** How long a forced exit waits for the store to release the leases. */
const FORCED_EXIT_TIMEOUT_MS = 5_000;
/** The time that a draining node always has to deregister from the store. */
const DEREGISTER_MS = 3_000;

/** @param onSignal called for each signal, with the number of signals so far. */
export function watchSignals(onSignal: (signal: NodeJS.Signals, count: number) => void): Signals {
  const drain = new AbortController();
  const force = new AbortController();
  let drainingSince: number | null = null;
  drain.signal.addEventListener('abort', () => {
    drainingSince = performance.now();
  });
  let count = 0;
  let forced: number | null = null;

  const requestForce = (signal: NodeJS.Signals) => {
    if (forced !== null) return;
    forced = 128 + os.constants.signals[signal];
    drain.abort();
    force.abort();
    const code = forced;
    setTimeout(() => exit(code), FORCED_EXIT_TIMEOUT_MS).unref();
  };
  const heard = (signal: NodeJS.Signals) => {
    count += 1;
    if (count === 1) drain.abort();
    else requestForce(signal);
    onSignal(signal, count);
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', heard);
  return {
    drain: drain.signal,
    force: force.signal,
    graceLeftMs: (graceMs) =>
      drainingSince === null
        ? graceMs
        : Math.max(Math.min(graceMs, DEREGISTER_MS), graceMs - (performance.now() - drainingSince)),
    forcedCode: () => forced,
    requestDrain: () => drain.abort(),
    requestForce,
    dispose: () => {
      process.off('SIGINT', heard);
      process.off('SIGTERM', heard);
    },
  };
}
