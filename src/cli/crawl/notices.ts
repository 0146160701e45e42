/** Notices of `crawl` in its log: stopping. */
import type { Logger } from '../../log.js';

/** Logged at the first and the second signal. */
export function logStopping(log: Logger, signal: NodeJS.Signals, count: number): void {
  if (count === 1)
    log.info({ signal }, 'finishing the pages in progress; the same signal again exits at once');
  if (count === 2) log.warn({ signal }, 'exiting at once; unfinished requests go back to the queue');
}
