/** A crawl in a process of its own; any other command in this one, which need not start. */
import { runCli } from '../cli.js';
import { runHere } from './run-here.js';

/** Run a command line in a project to its end. */
export function runCommand(
  args: readonly string[],
  { cwd }: { readonly cwd: string },
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return args[0] === 'crawl' ? runCli(args, { cwd }) : runHere(args, { cwd });
}
