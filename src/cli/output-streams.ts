/** stdout and stderr of the process: errors while writing, and an exit that loses no output. */
import type { Writable } from 'node:stream';
import { exit } from './exit-process.js';

let ignoresStdoutErrors = false;

/**
 * Handle write errors of stdout and stderr. When the reader closes stdout (`| head`), the process exits without a message.
 * When stdout cannot be written (a full disk), it exits with a message. A crawl continues in both cases
 * (`ignoreStdoutErrors`). Errors of stderr are always ignored.
 * @param fatalLine formats the message
 */
export function guardStreams(fatalLine: (text: string) => string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (ignoresStdoutErrors) return;
    if (error.code === 'EPIPE') exit(0);
    process.stderr.write(fatalLine(`the result cannot be written: ${error.message}`));
    exit(1);
  });
  process.stderr.on('error', () => {});
}

/** Continue when stdout cannot be written. For crawls, whose results are in the store. */
export function ignoreStdoutErrors(): void {
  ignoresStdoutErrors = true;
}

/** The output of items with `-o -`. @param onGone called when nobody reads it any more */
export function itemOutput(onGone: () => void): Writable {
  process.stdout.on('error', onGone);
  return process.stdout;
}

/** Exit once all output is written. User code that still runs does not delay the exit. */
export async function flushAndExit(code: number): Promise<void> {
  process.exitCode = code;
  await Promise.all([process.stdout, process.stderr].map(whenFlushed));
  exit(code);
}

function whenFlushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}
