/** The program with its global options and its help, but without commands. */
import { Command } from 'commander';
import { version } from '../package-folder.js';
import type { Context } from './context.js';
import { collect } from './options/option-parsers.js';
import { helpColumns, reflow } from './terminal/reflow.js';

const help = `
First steps:
  crawlnode init my-project     a project with a spider that runs at once
  crawlnode COMMAND --help      what a command does, with examples

Exit codes: 0 done, 1 failed at run time, 2 wrong usage, settings or spider, 3 refused, 4 the store cannot be reached,
130 and 143 ended by a second signal.`;

/** The program with its global options and no command. Help is as wide as the terminal of `stdout`. */
export function createProgram(
  { stdout }: Pick<Context, 'stdout'>,
  printError: (text: string) => void,
): Command {
  const columns = helpColumns(stdout);
  return new Command('crawlnode')
    .description(
      'A distributed crawler: any number of equal nodes share one request queue, in Redis or in a local file.',
    )
    .usage('<command> [arguments] [options]')
    .option(
      '-c, --config <file>',
      'settings file (default: that of the project which contains the working folder)',
    )
    .option('-s, --set <NAME=VALUE>', 'change a setting; may repeat', collect)
    .option(
      '-L, --level <level>',
      'log level: DEBUG, INFO, WARNING, ERROR or CRITICAL; DEBUG also shows stack traces',
    )
    .option('--logfile <file>', 'write the log to a file instead of stderr')
    .option('--json', 'print results as JSON; in a pipe also notices and errors')
    .option('--no-color', 'no colours, as with NO_COLOR in the environment')
    .version(version(), '-V, --version')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ sortSubcommands: false, helpWidth: columns })
    .configureOutput({
      writeOut: (text) => stdout.write(reflow(text, columns)),
      outputError: (text) => printError(text.replace(/^error: /, '')),
    })
    .addHelpText('after', help)
    .exitOverride();
}
