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

/** The commands by name: a one-line summary for the help, and the module, which is loaded on use. */
export type CommandTable = Readonly<
  Record<string, { readonly summary: string; load(): Promise<{ readonly command: CliCommand }> }>
>;
