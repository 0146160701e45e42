/** Notices of `crawl` in its log: stopping, unhandled rejections. */
import { messageOf } from '../../errors.js';
import type { Logger } from '../../log.js';
import { whereThrown } from '../../user-code/where-thrown.js';

/** Logged at the first and the second signal. */
export function logStopping(log: Logger, signal: NodeJS.Signals, count: number): void {
  if (count === 1)
    log.info({ signal }, 'finishing the pages in progress; the same signal again exits at once');
  if (count === 2) log.warn({ signal }, 'exiting at once; unfinished requests go back to the queue');
}

/** Logged for an unhandled promise rejection, for example of a call without `await` in a callback. */
export function logUnhandledRejection(log: Logger, error: unknown): void {
  const where = whereThrown(error);
  const fields = { error: messageOf(error), ...(where !== null && { where }) };
  log.error(fields, "unhandled promise rejection: is an await missing in the project's code?");
  if (error instanceof Error) log.debug({ stack: error.stack }, 'stack trace');
}
