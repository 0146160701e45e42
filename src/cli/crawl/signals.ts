/**
 * SIGINT and SIGTERM: the first drains, the second releases everything and leaves at once. In a worker the
 * parent says the same over its channel; hearing it twice, from both, still counts once.
 */
import os from 'node:os';
import { exit } from '../exit.js';

export interface Signals {
  /** Aborted by the first: finish what is in work. */
  readonly drain: AbortSignal;
  /** Aborted by the second: leave. */
  readonly force: AbortSignal;
  /** What is left of the grace time once draining; always enough to deregister from the store. */
  graceLeftMs(graceMs: number): number;
  /** 130 or 143 once forced. */
  forcedCode(): number | null;
  /** Does the same as the first signal. */
  requestDrain(): void;
  /** Does the same as the second. */
  requestForce(signal: NodeJS.Signals): void;
  /** Give the signals back to Node. */
  dispose(): void;
}

/** How long a forced end waits until the store has the releases. */
const FORCED_EXIT_TIMEOUT_MS = 5_000;
const DEREGISTER_MS = 3_000;

/**
 * Process 1 of a container ignores signals it has no handler for. This lets SIGINT, SIGTERM and SIGHUP end every command
 * there, as they end any other process.
 */
export function exitOnSignalAsProcessOne(): void {
  if (process.pid !== 1) return;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) exit(128 + os.constants.signals[signal]);
    });
  }
}

/** @param onSignal hears each, with how often signals came; for forwarding and for a message. */
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
