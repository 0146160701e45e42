/** Ending the process, and a message when something other than crawlnode ended it. */
import { writeSync } from 'node:fs';

let isExpected = false;

/** End the process now. */
export function exit(code: number): never {
  isExpected = true;
  process.exit(code);
}

/**
 * Make an exit that crawlnode did not ask for a failure with a message. Code of the project may call `process.exit`, or
 * await a promise that never settles while nothing else is left to do (Node then ends with 13).
 * @param fatalLine formats the message
 */
export function guardExit(fatalLine: (text: string) => string): void {
  // Node itself prints an uncaught error.
  process.on('uncaughtExceptionMonitor', () => {
    isExpected = true;
  });
  process.on('exit', (code) => {
    if (isExpected) return;
    process.exitCode = code === 0 || code === UNSETTLED_AWAIT ? 1 : code;
    writeToStderr(
      fatalLine('the process ended before the command did: see to "process.exit" in the project\'s code'),
    );
  });
}

const UNSETTLED_AWAIT = 13;

function writeToStderr(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody reads stderr any more.
  }
}
