/** What every command is, to the table of commands and to `main.ts`. */
import type { Command } from 'commander';
import type { Context } from './context.js';

/** What the module of a command exports as `command`. */
export interface CliCommand {
  /** Declare arguments and options. */
  define(command: Command): void;
  /** Do it. @returns the exit code. */
  run(context: Context, args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number>;
}
