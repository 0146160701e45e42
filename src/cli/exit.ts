/** Ending the process: only crawlnode does, and it says so when somebody else did. */
import { writeSync } from 'node:fs';

let isOver = false;

/** End the process now. */
export function exit(code: number): never {
  isOver = true;
  process.exit(code);
}

/**
 * Code of the project may call `process.exit`, or wait for what cannot come when nothing else is to be done (Node ends
 * with 13 then): a command that did not come to its end has failed, whatever code that gave.
 * @param lastWords makes a line of what is to be said
 */
export function guardExit(lastWords: (text: string) => string): void {
  // Node would print it as it is: the message of an error may hold what a page has sent.
  process.on('uncaughtException', (error: unknown) => {
    isOver = true;
    sayLast(
      lastWords(`nobody caught ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    );
    process.exit(1);
  });
  process.on('exit', (code) => {
    if (isOver) return;
    process.exitCode = code === 0 || code === UNSETTLED ? 1 : code;
    sayLast(
      lastWords('the process ended before the command did: see to "process.exit" in the project\'s code'),
    );
  });
}

const UNSETTLED = 13;

function sayLast(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody listens.
  }
}
