/** `shell --eval CODE`, and code from a pipe: JavaScript that is run once, in place of a prompt. */
import { CrawlnodeError, messageOf, UsageError } from '../../errors.js';
import { type Context, print } from '../context.js';
import type { ShellSession } from './shell-session.js';

type Run = () => Promise<unknown>;
const AsyncFunction = (async () => {}).constructor as new (code: string) => Run;

/**
 * Run code in the global object, which has the names of the session. The value of the expression that it is, or ends with on a line of its own, is
 * printed, a text without quotes.
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

/** Statements, of which the last lines are returned if they are an expression. */
function compiled(code: string): Run {
  const lines = code.trim().replace(/;$/, '').split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [before, last] = [lines.slice(0, at).join('\n'), lines.slice(at).join('\n')];
    try {
      return new AsyncFunction(`${before}\nreturn (${last}\n)`);
    } catch {
      // More of it are statements.
    }
  }
  try {
    return new AsyncFunction(code);
  } catch (cause) {
    throw new UsageError(`the code does not compile: ${messageOf(cause)}`, { cause });
  }
}
