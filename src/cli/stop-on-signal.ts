/** Ctrl-C in a command that has nothing to save. */

/** A signal aborted by the first SIGINT or SIGTERM; a second one of the same kind ends the process. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
