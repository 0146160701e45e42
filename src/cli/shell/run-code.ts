/** `shell --eval CODE`, and code from a pipe: JavaScript that is run once, in place of a prompt. */
import { CrawlnodeError, messageOf, UsageError } from '../../errors.js';
import { type Context, print } from '../context.js';
import type { ShellSession } from './shell-session.js';

type Run = () => Promise<unknown>;
const AsyncFunction = (async () => {}).constructor as new (code: string) => Run;

/**
 * Run code in the global object, which has the names of the session. The value of an expression is printed, a text without
 * quotes.
 * @throws UsageError for code that does not compile; CrawlnodeError `shell_code` for an error of the code
 */
export async function runCode(context: Context, session: ShellSession, code: string): Promise<void> {
  const run = compiled(code);
  let value: unknown;
  try {
    value = await run();
  } catch (cause) {
    if (cause instanceof CrawlnodeError) throw cause;
    throw new CrawlnodeError('shell_code', `the code threw an error: ${messageOf(cause)}`, { cause });
  }
  if (value !== undefined) print(context, typeof value === 'string' ? value : session.write(value));
}

/** As an expression if it is one, otherwise as statements. */
function compiled(code: string): Run {
  try {
    return new AsyncFunction(`return (${code.trim().replace(/;$/, '')}\n)`);
  } catch {
    try {
      return new AsyncFunction(code);
    } catch (cause) {
      throw new UsageError(`the code does not compile: ${messageOf(cause)}`, { cause });
    }
  }
}
