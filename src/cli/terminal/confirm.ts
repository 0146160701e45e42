/** The question before something is deleted for good. */
import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../errors.js';
import type { Context } from '../context.js';
import { printable } from './printable.js';

/**
 * Ask on the terminal. @param what the command that asks, such as `reset`.
 * @throws UsageError when nobody can be asked, or the answer is no.
 */
export async function confirm(context: Context, what: string, question: string): Promise<void> {
  if (context.stdin.isTTY !== true || !context.stderr.isTTY) {
    throw new UsageError(`${what} deletes permanently: confirm with --yes`);
  }
  const asking = createInterface({ input: context.stdin, output: process.stderr });
  try {
    // Ctrl-C and Ctrl-D close the question without an answer: that is a no.
    const closed = new Promise<string>((resolve) => asking.once('close', () => resolve('')));
    const answer = await Promise.race([asking.question(`${printable(question)} [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was deleted');
  } finally {
    asking.close();
  }
}
