/** Which exit code an error gives. The other codes: 0 done or drained, 130 and 143 forced by a signal. */
import { FrontierUnavailableError, InvalidRequestError, RefusedError, UsageError } from '../errors.js';

/** 2 for a wrong command, setting or spider, 3 refused, 4 the frontier cannot be reached, else 1. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof InvalidRequestError) return 2;
  if (error instanceof RefusedError) return 3;
  if (error instanceof FrontierUnavailableError) return 4;
  return 1;
}
