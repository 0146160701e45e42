/**
 * The command line: find the command, load only its module, run it, print errors, choose the exit code.
 * Exit codes: 0 done, 1 run-time failure, 2 usage, settings or spider code, 3 refused, 4 frontier unreachable,
 * 130/143 forced by a second signal.
 */
import { type Command, CommanderError } from 'commander';
import { UsageError } from '../errors.js';
import { commands } from './commands.js';
import { type Context, type Globals, processContext } from './context.js';
import { guardExit } from './exit-process.js';
import { exitCodeOf, fatalLine, reportError } from './messages/error-report.js';
import { spiderFirst } from './options/spider-argument.js';
import { flushAndExit, guardStreams } from './output-streams.js';
import { createProgram } from './program.js';

/** Run the command line of this process, then exit. @param argv without node and script */
export async function start(argv: readonly string[]): Promise<void> {
  let context = processContext(argv, earlyGlobals(argv));
  const fatalLineOf = (text: string) => fatalLine(context, text, { code: 'unexpected', exitCode: 1 });
  guardExit(fatalLineOf);
  guardStreams(fatalLineOf);
  const contextOf = (...given: Parameters<typeof processContext>) => {
    context = processContext(...given);
    return context;
  };
  await flushAndExit(await main(argv, contextOf));
}

/**
 * Run one command line. Results and errors have been printed when it returns.
 * @param contextOf creates the context; by default that of this process
 * @returns the exit code
 */
export async function main(argv: readonly string[], contextOf = processContext): Promise<number> {
  let context: Context = contextOf(argv, earlyGlobals(argv));
  try {
    const { name, args } = await findCommand(argv);
    let code = 0;
    const program = createProgram(context, (text) => {
      const command = program.commands.find((each) => each.name() === name);
      const message = explainArgumentCount(text.trimEnd(), command);
      context.stderr.write(fatalLine(context, message, { code: 'usage', exitCode: 2 }));
    });
    for (const [each, { summary }] of Object.entries(commands)) program.command(each).description(summary);
    if (name !== null) {
      const { command: cli } = await commands[name]!.load();
      const command = program.commands.find((each) => each.name() === name)!;
      cli.define(command);
      command.addHelpText('after', globalOptionsHelp);
      command.action(async () => {
        context = contextOf(argv, globalsOf(program));
        const words = { args: command.args, options: command.opts() };
        const { args, options } = spiderFirst(command.registeredArguments, words);
        code = await cli.run(context, args, options);
      });
    }
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    // Commander has already printed this error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    reportError(context, error);
    return exitCodeOf(error);
  }
}

/** A short reminder. The full list would be longer than the help of most commands. */
const globalOptionsHelp = `
Every command takes -c FILE, -s NAME=VALUE, -L LEVEL, --logfile FILE, --json and --no-color too; "crawlnode --help"
explains them.`;

/** Commander reports how many arguments are unexpected, but not which, and no values of a missing one. This adds them. */
function explainArgumentCount(text: string, command: Command | undefined): string {
  if (command === undefined || !/^(missing required|too many) argument/.test(text)) return text;
  const extra = command.args.slice(command.registeredArguments.length);
  const which = text.startsWith('too many') && extra.length > 0 ? `: ${extra.join(' ')}` : '';
  const missing = command.registeredArguments.find((argument) => text.endsWith(`'${argument.name()}'`));
  const values = missing?.argChoices ? `: ${missing.argChoices.join(', ')}` : '';
  return `${text.replace(/\.$/, '')}${which}${values}; "crawlnode ${command.name()} --help" says more`;
}

/** Scrapy commands and their nearest crawlnode command. */
const scrapyCommands: Readonly<Record<string, string>> = {
  startproject: 'init DIR',
  view: 'shell URL',
  check: 'doctor',
};

/** The name of the command, and the arguments for the parser. The name is null for the program's own help and version. */
async function findCommand(
  argv: readonly string[],
): Promise<{ name: string | null; args: readonly string[] }> {
  const at = positionOfCommand(argv);
  if (at === -1) return { name: null, args: argv.length === 0 ? ['--help'] : argv };
  const word = argv[at]!;
  if (Object.hasOwn(commands, word)) return { name: word, args: argv };
  if (word === 'help') {
    const [topic] = argv.slice(at + 1).filter((arg) => !arg.startsWith('-'));
    return topic === undefined ? { name: null, args: ['--help'] } : findCommand([topic, '--help']);
  }
  const { didYouMean } = await import('../settings/nearest.js');
  const near = Object.hasOwn(scrapyCommands, word)
    ? `; "crawlnode ${scrapyCommands[word]}" is nearest to Scrapy's`
    : didYouMean(word, Object.keys(commands), 3);
  throw new UsageError(
    `unknown command ${JSON.stringify(word)}${near || '; "crawlnode --help" lists the commands'}`,
  );
}

/** The index of the first word that is neither an option nor its value. Only global options precede the command. */
function positionOfCommand(argv: readonly string[]): number {
  const takesValue = new Set(['-c', '--config', '-s', '--set', '-L', '--level', '--logfile']);
  for (let at = 0; at < argv.length; at += 1) {
    if (takesValue.has(argv[at]!)) at += 1;
    else if (!argv[at]!.startsWith('-')) return at;
  }
  return -1;
}

function globalsOf(program: Command): Globals {
  const options = program.opts();
  return {
    config: options.config,
    set: options.set ?? [],
    level: options.level,
    logfile: options.logfile,
    json: options.json === true,
    colour: options.color !== false,
  };
}

/** The global options that an error before parsing needs. */
function earlyGlobals(argv: readonly string[]): Globals {
  const at = argv.findIndex((arg) => arg === '-L' || arg === '--level');
  return {
    set: [],
    json: argv.includes('--json'),
    colour: !argv.includes('--no-color'),
    level: at === -1 ? undefined : argv[at + 1],
  };
}
