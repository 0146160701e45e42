/** `crawlnode list`: the spiders of the project, one a line. Modules that do not load are reported. */
import type { Command } from 'commander';
import { SpiderLoadError } from '../../errors.js';
import { problemsOf, unexportedText } from '../../spider/loading/discover.js';
import type { CliCommand } from '../command.js';
import { note, print, printJson } from '../context.js';
import { discover, loadProject } from '../project/open-project.js';

const help = `
Loads every module in the folders of SPIDER_MODULES, and prints the names of the spiders, one per line. Modules that do not
load are also reported, and the exit code is then 2.

Examples:
  crawlnode list
  crawlnode list --json | jq -r '.[].file'`;

export const command: CliCommand = {
  define: (command: Command) => void command.addHelpText('after', help),
  run: async (context) => {
    const { settings } = await loadProject(context);
    const discovery = await discover(context, settings);
    const spiders = [...discovery.spiders.values()];
    if (context.globals.json) {
      printJson(
        context,
        spiders.map(({ name, file }) => ({ name, file })),
      );
    } else for (const { name } of spiders) print(context, name);
    const problems = problemsOf(discovery);
    if (problems.length > 0) throw new SpiderLoadError(problems.join('\n'));
    for (const unexported of discovery.unexported) note(context, unexportedText(unexported));
    if (spiders.length === 0 && discovery.unexported.length === 0)
      note(context, `no spiders in ${settings.SPIDER_MODULES.join(', ')}`);
    return 0;
  },
};
