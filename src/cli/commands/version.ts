/** `crawlnode version`: the version of this package, and of Node. */
import type { CliCommand } from '../command.js';
import { print, printJson } from '../context.js';
import { version } from '../version.js';

export const command: CliCommand = {
  define: () => {},
  run: async (context) => {
    if (context.globals.json) printJson(context, { crawlnode: version(), node: process.versions.node });
    else print(context, `crawlnode ${version()}`);
    return 0;
  },
};
