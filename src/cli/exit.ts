/** Exits the process, and reports an exit that crawlnode did not request. */
import { writeSync } from 'node:fs';

let isExpected = false;

/** End the process now. */
export function exit(code: number): never {
  isExpected = true;
  process.exit(code);
}

/**
 * Turn an exit that crawlnode did not request into a failure with a message. Project code may call `process.exit`. It may
 * also await a promise that never settles; Node exits with code 13 when the event loop is empty.
 * @param fatalLine formats the message
 */
export function guardExit(fatalLine: (text: string) => string): void {
  // Node would print it unescaped, and the message may hold text of a page.
  process.on('uncaughtException', (error: unknown) => {
    isOver = true;
    writeToStderr(
      fatalLine(`uncaught error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    );
    process.exit(1);
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
    // stderr is closed, so the message cannot be written.
  }
}
