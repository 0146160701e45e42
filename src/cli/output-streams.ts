/** stdout and stderr of the process: readers that close them early, and an exit that loses no output. */

import { exit } from './exit.js';

let ignoresStdoutErrors = false;

/**
 * When the reader of stdout closes it (`| head`), the process ends without a message; when stdout cannot be written (a full
 * disk), it ends with one. A crawl goes on in both cases (`ignoreStdoutErrors`). Errors of stderr are always ignored.
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

/** From now on the process goes on when its output cannot be written. */
export function ignoreStdoutErrors(): void {
  ignoresStdoutErrors = true;
}

/** End the process once all output is written. User code that still runs does not delay it. */
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
