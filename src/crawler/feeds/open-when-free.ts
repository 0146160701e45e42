/**
 * A node that is started again may find its file of items in use: a node that ends writes the items which the killed node had
 * committed (`orphaned-feeds.ts`). That takes moments, so the new node waits. Any other writer is an error at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FeedHeldError } from '../../errors.js';
import type { Logger } from '../../log.js';

/** For a process that writes what a dead node left, and for one of which nothing is known yet. */
const LONGEST_S = { brief: 30, unknown: 3 };
const LOOK_MS = 100;

/**
 * Open a file of items, after a wait where another process has it only briefly. The first wait and its end are logged.
 * @param open may be called again and again @param file its path, for the log
 * @param drain aborted to wait no longer
 * @throws FeedHeldError when another process keeps the file, and whatever `open` throws
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
      // Between two writers nobody is known for a moment.
      longestS = Math.max(longestS, error.isBrief ? LONGEST_S.brief : LONGEST_S.unknown);
      if (waitedS() > longestS) throw error;
      const what = error.isBrief ? 'writes what a dead node left for this file' : 'has this file';
      if (isFirst)
        log.info({ file }, `${error.holder} ${what}; waiting for up to ${longestS} s until it is free`);
      await sleep(LOOK_MS, undefined, { signal: drain }).catch(() => {});
    }
  }
}
