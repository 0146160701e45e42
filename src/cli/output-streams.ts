/** The ends of the process's streams: readers that go away, and an exit that loses no output. */

import { exit } from './exit.js';

let enduring = false;

/**
 * A reader that closed our stdout (`| head`) ends the process quietly, a full disk behind it with a message; a crawl goes
 * on without it. Nobody reading the log is no reason to stop either.
 * @param lastWords makes a line of what is to be said
 */
export function guardStreams(lastWords: (text: string) => string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (enduring) return;
    if (error.code === 'EPIPE') exit(0);
    process.stderr.write(lastWords(`the result cannot be written: ${error.message}`));
    exit(1);
  });
  process.stderr.on('error', () => {});
}

/** From now on the process does not end for want of somebody who takes its output. */
export function endureBrokenPipe(): void {
  enduring = true;
}

/** End the process once everything written has left it; code of the user's that still runs does not hold it up. */
export async function leave(code: number): Promise<void> {
  process.exitCode = code;
  await Promise.all([process.stdout, process.stderr].map(flushed));
  exit(code);
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once('error', () => resolve());
    stream.write('', () => resolve());
  });
}
