/** Ctrl-C on a command that has nothing to save. */

/** Aborted by the first SIGINT or SIGTERM; the second of a kind ends the process as ever. */
export function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
