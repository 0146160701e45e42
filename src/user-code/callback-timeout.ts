/** The time limit of asynchronous code of the project: CALLBACK_TIMEOUT. */
import { CrawlnodeError } from '../errors.js';

/**
 * Limit the time of what a function of the project returned. A promise is rejected when it does not settle in time; its
 * code continues, but nothing waits for it. Any other value is returned unchanged, without a timer.
 * @param timeoutMs undefined for no limit.
 * @throws CrawlnodeError `callback_timeout`
 */
export function withinTimeout<T>(
  returned: T | PromiseLike<T>,
  timeoutMs: number | undefined,
): T | PromiseLike<T> {
  return timeoutMs === undefined || !isPromise(returned) ? returned : bounded(returned, timeoutMs);
}

function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | null | undefined)?.then === 'function';
}

function bounded<T>(promise: PromiseLike<T>, timeoutMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const expire = () => reject(tooLong(timeoutMs));
    const timer = setTimeout(expire, timeoutMs);
    promise.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

function tooLong(timeoutMs: number): CrawlnodeError {
  return new CrawlnodeError(
    'callback_timeout',
    `it was not over after ${timeoutMs / 1000} s (CALLBACK_TIMEOUT)`,
  );
}
