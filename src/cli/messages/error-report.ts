/** Prints errors, and decides their exit codes. */
import {
  CrawlnodeError,
  FrontierUnavailableError,
  InvalidRequestError,
  messageOf,
  RefusedError,
  UsageError,
} from '../../errors.js';
import { type Context, logLine, stderrIsJson, wantsStack } from '../context.js';
import { printable } from '../terminal/printable.js';
import { wrapped } from '../terminal/reflow.js';

/** Fields of the final log line of a failed command. */
export interface FatalFields {
  /** The code of the error (`error-codes.ts`), or the reason why the crawl ended. */
  readonly code: string;
  readonly exitCode: number;
}

/** Print `crawlnode: message`. A stack trace follows with `-L DEBUG`, and after an unexpected error. */
export function reportError(context: Context, error: unknown): void {
  const fields = { ...fatalFieldsOf(error), stack: stackOf(error, wantsStack(context)) };
  const hint = fields.code === 'EMFILE' ? ': raise the limit of open files (ulimit -n)' : '';
  const message = fillCrawlArguments(messageOf(error), context.crawl);
  context.stderr.write(fatalLine(context, `${message}${hint}`, fields));
}

/** Format the final error message of a command: as text, or as a log line when stderr is JSON. */
export function fatalLine(
  context: Context,
  text: string,
  { stack, ...fields }: FatalFields & { readonly stack?: string | undefined },
): string {
  const [message, trace] = [context.mask(text), stack === undefined ? undefined : context.mask(stack)];
  if (stderrIsJson(context)) return logLine('fatal', message, { ...fields, stack: trace });
  const shown = wrapped(printable(`crawlnode: ${message}`), context.stderr);
  return `${shown}${trace === undefined ? '' : `\n${printable(trace)}`}\n`;
}

/** The log fields of an error. */
export function fatalFieldsOf(error: unknown): FatalFields {
  const { code } = error instanceof Error ? (error as { code?: unknown }) : {};
  return { code: typeof code === 'string' ? code : 'unexpected', exitCode: exitCodeOf(error) };
}

/** The stack of an error and of its causes. Undefined for expected errors, unless stack traces are on. */
function stackOf(error: unknown, wantsStack: boolean): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const expected = error instanceof CrawlnodeError || isSystemError(error);
  if (expected && !wantsStack) return undefined;
  const causes: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(cause.stack ?? cause.message);
  }
  return causes.join('\ncaused by: ');
}

/** An operating system error, such as a file that cannot be written. Its message needs no stack trace. */
export function isSystemError(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/**
 * Replace SPIDER in suggested commands. The frontier does not know the command line, so its messages say
 * `"crawlnode reset SPIDER"`.
 * @param crawl the result of `crawlArguments`; null leaves the text unchanged
 */
export function fillCrawlArguments(text: string, crawl: string | null): string {
  return crawl === null ? text : text.replace(/(?<="crawlnode [a-z]+ )SPIDER\b/g, () => crawl);
}

/**
 * The exit code of an error: 2 for a wrong command, setting or spider, 3 refused, 4 the frontier cannot be reached, else 1. The
 * other codes: 0 done or drained, 130 and 143 forced by a signal.
 */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof InvalidRequestError) return 2;
  if (error instanceof RefusedError) return 3;
  if (error instanceof FrontierUnavailableError) return 4;
  return 1;
}
