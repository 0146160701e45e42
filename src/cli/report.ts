/** An error as a message for people, and the exit code it stands for. */
import {
  CrawlnodeError,
  FrontierUnavailableError,
  InvalidRequestError,
  RefusedError,
  UsageError,
} from '../errors.js';
import { type Context, logLine, speaksJson, wantsStack } from './context.js';
import { typeable } from './crawl-arguments.js';
import { printable } from './printable.js';

/** Print `crawlnode: message`; a stack trace only for `-L DEBUG`, or where the error is none of ours. */
export function report(context: Context, error: unknown): void {
  const { message, code, stack } = describe(error, wantsStack(context));
  context.stderr.write(
    fatalLine(context, typeable(message, context.crawl), { code, exitCode: exitCodeOf(error), stack }),
  );
}

/** What a command ends with, as a line for people, or as one of the log where all is JSON. */
export function fatalLine(
  context: Context,
  text: string,
  { stack, ...fields }: { code?: string | undefined; exitCode: number; stack?: string | undefined },
): string {
  const [message, trace] = [context.mask(text), stack === undefined ? undefined : context.mask(stack)];
  if (speaksJson(context)) return logLine('fatal', message, { ...fields, stack: trace });
  return `${printable(`crawlnode: ${message}${trace === undefined ? '' : `\n${trace}`}`)}\n`;
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof InvalidRequestError) return 2;
  if (error instanceof RefusedError) return 3;
  if (error instanceof FrontierUnavailableError) return 4;
  return 1;
}

function describe(error: unknown, wantsStack: boolean): { message: string; code?: string; stack?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  const named = { message: error.message, ...(typeof code === 'string' ? { code } : {}) };
  const expected = error instanceof CrawlnodeError || isSystemError(error);
  if (expected && !wantsStack) return named;
  const causes: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(cause.stack ?? cause.message);
  }
  return { ...named, stack: causes.join('\ncaused by: ') };
}

/** A file that cannot be written, a port that is taken: the message says it all. */
function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}
