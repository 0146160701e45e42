/** Ending the process, and a message when something other than crawlnode ended it. */
import { writeSync } from 'node:fs';
import os from 'node:os';
import { modulesLoading, shortPath, whereThrown } from '../user-code/where-thrown.js';

let isOver = false;

/** End the process now. */
export function exit(code: number): never {
  isOver = true;
  process.exit(code);
}

/**
 * Exit on SIGINT, SIGTERM and SIGHUP while nobody else listens, when this is process 1. The kernel ignores signals to process
 * 1 of a container unless it has a handler, so this is called before anything else is loaded.
 */
export function exitOnSignalAsProcessOne(): void {
  if (process.pid !== 1) return;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) exit(128 + os.constants.signals[signal]);
    });
  }
}

/**
 * Make an exit that crawlnode did not ask for a failure with a message. Code of the project may call `process.exit`, or
 * await a promise that never settles while nothing else is left to do (Node then ends with 13).
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
  // Node emits it when nothing is left to do, and not for process.exit.
  let isIdle = false;
  process.on('beforeExit', () => {
    isIdle = true;
  });
  process.on('exit', (code) => {
    if (isOver) return;
    process.exitCode = code === 0 || isIdle ? 1 : code;
    const files = modulesLoading().map(shortPath).join(' and ');
    const waits = files === '' ? '' : `, such as a top-level await of ${files}`;
    const where = whereThrown(new Error());
    const why = isIdle
      ? `the project's code waits for a promise that nothing settles${waits}`
      : `see to "process.exit" in the project's code${where === null ? '' : `, at ${where}`}`;
    writeToStderr(fatalLine(`the process ended before the command did: ${why}`));
  });
}

function writeToStderr(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody reads stderr any more.
  }
}
