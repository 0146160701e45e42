/** Ctrl-C for commands that have no state to save. */

/** A signal aborted by the first SIGINT or SIGTERM; a second one of the same kind kills the process. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
