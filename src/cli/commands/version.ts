/** `crawlnode version`: the version of this package, and of Node. */
import type { Command } from 'commander';
import { version } from '../../package-folder.js';
import type { CliCommand } from '../command.js';
import { printResult } from '../context.js';

const help = `
With --json it also prints the version of Node, for bug reports.

Example:
  crawlnode version --json`;

export const command: CliCommand = {
  define: (command: Command) => void command.addHelpText('after', help),
  run: async (context) => {
    const versions = { crawlnode: version(), node: process.versions.node };
    printResult(context, versions, `crawlnode ${version()}`);
    return 0;
  },
};
