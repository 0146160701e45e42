/** Many waiters on one AbortSignal: a single listener for all, since Node warns from the eleventh on and scans them. */

const waitersBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/** Call `waiter` once when the signal aborts. @returns how to take it back. */
export function onAbort(signal: AbortSignal, waiter: () => void): () => void {
  let waiters = waitersBySignal.get(signal);
  if (waiters === undefined) {
    waiters = listen(signal);
    waitersBySignal.set(signal, waiters);
  }
  waiters.add(waiter);
  return () => waiters.delete(waiter);
}

function listen(signal: AbortSignal): Set<() => void> {
  const waiters = new Set<() => void>();
  signal.addEventListener(
    'abort',
    () => {
      for (const waiter of [...waiters]) waiter();
      waiters.clear();
    },
    { once: true },
  );
  return waiters;
}
