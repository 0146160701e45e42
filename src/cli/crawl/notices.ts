/** Notices of `crawl` in its log: settings without effect, stopping, unhandled rejections. */
import { messageOf } from '../../errors.js';
import type { Logger } from '../../log.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';

/** Logged once when the crawl starts. With `--workers` only the parent logs them. */
export function logSettingNotices({ notices }: LoadedSettings, log: Logger): void {
  for (const notice of notices) log.warn({}, notice);
}

/** Logged at the first and the second signal. */
export function logStopping(log: Logger, signal: NodeJS.Signals, count: number): void {
  if (count === 1) log.info({ signal }, 'finishing the pages in work; the same signal again leaves at once');
  if (count === 2) log.warn({ signal }, 'leaving at once; what was in work goes back to the frontier');
}

/** Logged for an unhandled rejection, such as of a call that a callback does not await. */
export function logUnhandledRejection(log: Logger, error: unknown): void {
  const message = messageOf(error);
  log.error(
    { error: message },
    'a promise was rejected and nobody handled it: is an await missing in the spider?',
  );
  if (error instanceof Error) log.debug({ stack: error.stack }, 'the error in full');
}
