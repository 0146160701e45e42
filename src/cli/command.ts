/** The interface that every command module implements. `main.ts` calls it. */
import type { Command } from 'commander';
import type { Context } from './context.js';

/** The export `command` of a command module. */
export interface CliCommand {
  /** Declare arguments and options. */
  define(command: Command): void;
  /** Run the command. @returns the exit code. */
  run(context: Context, args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number>;
}
