/**
 * V8 lets garbage grow to as much as the live memory and more, so a few large pages in a row would keep their trees in memory
 * together: four of 4 MB took 830 MB, and take 430 MB with this.
 *
 * Node documents no call for that. It documents `setFlagsFromString`, and warns of flags that are changed while the VM runs. This flag
 * only adds a function to contexts that are made later. Rejected: `v8.queryObjects`, which collects garbage first, but takes
 * a second each time and prints a warning; `node --expose-gc`, which neither `#!/usr/bin/env node` nor a program can give.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** So much more in the heap than after the last collection is worth the time of one. */
const GROWTH_BYTES = 128 * 1024 * 1024;

let collect: (() => void) | undefined;
let keptBytes = 0;

/** Collect garbage where a large page has left much of it. */
export function collectGarbage(): void {
  if (getHeapStatistics().used_heap_size - keptBytes < GROWTH_BYTES) return;
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  keptBytes = getHeapStatistics().used_heap_size;
}
