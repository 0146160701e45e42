/**
 * V8 lets garbage grow to as much as the live memory and more, so a few large pages in a row would keep their trees in memory
 * together: four of 4 MB took 830 MB, and take 430 MB with this.
 *
 * The inspector is what Node documents for a collection on demand: `HeapProfiler.collectGarbage` of the DevTools protocol. Its session
 * ends at once, as an open one keeps what the console printed. Rejected: `v8.queryObjects`, which collects garbage first, but takes
 * a second each time and prints a warning; `node --expose-gc`, which neither `#!/usr/bin/env node` nor a program can give.
 */
import { getHeapStatistics } from 'node:v8';

/** So much more in the heap than after the last collection is worth the time of one. */
const GROWTH_BYTES = 128 * 1024 * 1024;

let keptBytes = 0;
let last: Promise<void> = Promise.resolve();

/**
 * Collect garbage where large pages have left much of it. Calls follow each other, so that one collection serves all that ask at the
 * same time. Never rejects: without an inspector in this Node nothing is collected.
 */
export function collectGarbage(): Promise<void> {
  last = last.then(collectIfGrown);
  return last;
}

async function collectIfGrown(): Promise<void> {
  if (getHeapStatistics().used_heap_size - keptBytes < GROWTH_BYTES) return;
  const inspector = await import('node:inspector').catch(() => null);
  if (inspector === null) return;
  const session = new inspector.Session();
  session.connect();
  await new Promise<void>((resolve) => session.post('HeapProfiler.collectGarbage', () => resolve()));
  session.disconnect();
  keptBytes = getHeapStatistics().used_heap_size;
}
