/** An error as a message for people, and the exit code it stands for. */
import {
  CrawlnodeError,
  FrontierUnavailableError,
  InvalidRequestError,
  RefusedError,
  UsageError,
} from '../errors.js';
import { type Context, wantsStack } from './context.js';
import { printable } from './printable.js';

/** Print `crawlnode: message`; a stack trace only for `-L DEBUG`, or where the error is none of ours. */
export function report(context: Context, error: unknown): void {
  context.stderr.write(`${printable(context.mask(describe(error, wantsStack(context))))}\n`);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof InvalidRequestError) return 2;
  if (error instanceof RefusedError) return 3;
  if (error instanceof FrontierUnavailableError) return 4;
  return 1;
}

function describe(error: unknown, stack: boolean): string {
  if (!(error instanceof Error)) return `crawlnode: ${String(error)}`;
  const expected = error instanceof CrawlnodeError || isSystemError(error);
  if (expected && !stack) return `crawlnode: ${error.message}`;
  const causes: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(cause.stack ?? cause.message);
  }
  return `crawlnode: ${error.message}\n${causes.join('\ncaused by: ')}`;
}

/** A file that cannot be written, a port that is taken: the message says it all. */
function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
