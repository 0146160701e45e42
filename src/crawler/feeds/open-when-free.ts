/**
 * Opens a feed file that another process may release soon. When a node is started again after a kill, a node that ends may
 * be writing the items of the killed one (`orphaned-feeds.ts`). That takes moments, so the new node waits. Any other writer
 * is an error at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FeedHeldError } from '../../errors.js';
import type { Logger } from '../../log.js';

/** The wait for a process that writes the items of a dead node, and for one of which nothing is known yet. */
const LONGEST_S = { brief: 30, unknown: 3 };
const LOOK_MS = 100;

/**
 * Open a file of items. When another process has it only briefly, wait for it; the first wait and its end are logged.
 * @param open may be called several times
 * @param file its path, for the log
 * @param drain aborted to stop waiting
 * @throws FeedHeldError when another process keeps the file, and errors of `open`
 */
export async function openWhenFree<T>(
  open: () => Promise<T>,
  { file, drain, log }: { readonly file: string; readonly drain: AbortSignal; readonly log: Logger },
): Promise<T> {
  const startedAt = performance.now();
  const waitedS = () => (performance.now() - startedAt) / 1_000;
  let longestS = 0;
  for (;;) {
    try {
      const opened = await open();
      if (longestS > 0) log.info({ file, waitedS: Number(waitedS().toFixed(1)) }, 'the file is free now');
      return opened;
    } catch (error) {
      if (!(error instanceof FeedHeldError) || error.isBrief === false || drain.aborted) throw error;
      const isFirst = longestS === 0;
      // Between two writers, no writer is registered for a moment.
      longestS = Math.max(longestS, error.isBrief ? LONGEST_S.brief : LONGEST_S.unknown);
      if (waitedS() > longestS) throw error;
      const what = error.isBrief ? 'writes what a dead node left for this file' : 'has this file';
      if (isFirst)
        log.info({ file }, `${error.holder} ${what}; waiting for up to ${longestS} s until it is free`);
      await sleep(LOOK_MS, undefined, { signal: drain }).catch(() => {});
    }
  }
}
