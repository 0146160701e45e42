/** How long until the crawl went on after a fault. */

/**
 * Of nodes that were killed or stopped: for each page that such a node had asked for and another asked for again, the time
 * from the fault to that. Each life of a node has a User-Agent of its own.
 * @param log requests of the site @param faults { agent, atMs } of each fault
 */
export function refetchDelays(log, faults) {
  const faultAt = new Map(faults.map(({ agent, atMs }) => [agent, atMs]));
  return [...requestsByPath(log).values()].flatMap((requests) =>
    requests.slice(1).flatMap((request, n) => {
      const atMs = faultAt.get(requests[n].agent);
      return atMs === undefined || request.agent === requests[n].agent || request.startMs < atMs
        ? []
        : [request.startMs - atMs];
    }),
  );
}

/** Of a store that came back: the time to the next request of the site, for each of these instants. */
export function resumeDelays(log, backAtMs) {
  const starts = log.map(({ startMs }) => startMs).sort((a, b) => a - b);
  return backAtMs.flatMap((atMs) => {
    const next = starts.find((startMs) => startMs >= atMs);
    return next === undefined ? [] : [next - atMs];
  });
}

/** Requests beyond the first of each page, those included that a kill cut off. */
export function refetchesOf(log) {
  return log.length - requestsByPath(log).size;
}

/** A percentile of some numbers; null for none. */
export function percentile(numbers, percent) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? null;
}

function requestsByPath(log) {
  const byPath = new Map();
  for (const request of [...log].sort((a, b) => a.startMs - b.startMs)) {
    byPath.set(request.path, [...(byPath.get(request.path) ?? []), request]);
  }
  return byPath;
}
