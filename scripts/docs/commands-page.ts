/** docs/reference/commands.md, from the command line's own declarations. */
import type { Argument, Command, Option } from 'commander';
import { commands } from '../../src/cli/commands.js';
import { createProgram } from '../../src/cli/program.js';
import { commandErrorCodes } from '../../src/error-codes.js';
import { code, fence, page, plain, table } from './markdown.js';

/** The whole command line, with every command declared and none that does anything: to be read, or to parse by. */
export async function wholeProgram(): Promise<Command> {
  const stdout = { isTTY: false, columns: 80, rows: 24, write: () => {} };
  const program = createProgram({ stdout }, () => {});
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const command = program.command(name).description(summary);
    (await load()).command.define(command);
    command.action(() => {});
  }
  return program;
}

const exitCodes: readonly (readonly [number: string, meaning: string])[] = [
  [
    '0',
    'done, or drained after a signal. `crawl` also ends with 0 when some pages failed: the summary says how many',
  ],
  [
    '1',
    'failed at run time: work was lost, a file of items could not be written, `doctor` found a problem, no page of the run succeeded, or the run does not pass `--min-items`, `--max-failed` or `--must-finish`',
  ],
  [
    '2',
    'wrong usage or settings, unknown spider, or spider code that does not load. Also: `reset` without `--yes` off a terminal, a `reset` of a job or spider of which there is nothing, and a `seed` of which every seed is bad',
  ],
  [
    '3',
    'refused: nodes are alive, the crawl has another shape or data format, a key or file belongs to something else, or Redis may evict keys',
  ],
  ['4', 'the store cannot be reached, or does not let the user in'],
  ['130, 143', 'ended at once by a second SIGINT or SIGTERM'],
];

/** The page. */
export async function commandsPage(): Promise<string> {
  const program = await wholeProgram();
  return page(
    '# Commands',
    'Results go to stdout; the log and the progress go to stderr. `crawlnode COMMAND --help` prints what stands here.',
    `${program.commands.map((command) => `[${command.name()}](#${command.name()})`).join(' · ')} · [exit codes](#exit-codes) · [error codes](#error-codes)`,
    '## Options of every command',
    `They may stand before or after the name of the command.\n\n${optionsTable(program.options)}`,
    ...program.commands.map(describeCommand),
    '## Exit codes',
    table(['code', 'means'], exitCodes),
    '## Error codes',
    'With `--json`, and no terminal on stderr, a command that fails ends with a line of JSON on stderr. Its field `code` is one of these. [Troubleshooting](../guide/troubleshooting.md) says what to do.',
    table(
      ['code', 'means'],
      Object.entries(commandErrorCodes).map(([name, meaning]) => [
        `[${code(name)}](../guide/troubleshooting.md#${name})`,
        plain(meaning),
      ]),
    ),
  );
}

function describeCommand(command: Command): string {
  const parts = [
    `## ${command.name()}`,
    `${capital(plain(command.description()))}.`,
    fence('', `crawlnode ${command.name()} ${command.usage()}`),
  ];
  const { registeredArguments: args, options } = command;
  const described = args.filter(({ description }) => description !== '');
  if (described.length > 0) parts.push(table(['argument', ''], described.map(argumentRow)));
  if (options.length > 0) parts.push(optionsTable(options));
  return [...parts, ...blocks(textAfterHelp(command))].join('\n\n');
}

function argumentRow(argument: Argument): string[] {
  const choices = argument.argChoices === undefined ? '' : ` (${argument.argChoices.map(code).join(', ')})`;
  return [code(argument.name()), plain(argument.description) + choices];
}

function optionsTable(options: readonly Option[]): string {
  const rows = options
    .filter(({ hidden }) => !hidden)
    .map((option) => {
      const given =
        option.defaultValue === undefined ? '' : ` (default: ${code(String(option.defaultValue))})`;
      return [code(option.flags), plain(option.description) + given];
    });
  return table(['option', ''], rows);
}

/** What the command's help says after the list of options. */
function textAfterHelp(command: Command): string {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
    getOutHelpWidth: () => 120,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return printed.slice(command.helpInformation().length).trim();
}

/** Paragraphs of a help text; examples become a block of code. */
function blocks(text: string): string[] {
  if (text === '') return [];
  return text.split(/\n{2,}/).map((block) => {
    const [first = '', ...rest] = block.split('\n');
    if (!/^Examples?:$/.test(first)) return plain(block);
    return `${first}\n\n${fence('sh', rest.map(exampleLine).join('\n'))}`;
  });
}

/** A remark behind an example becomes a comment of the shell. */
function exampleLine(line: string): string {
  return line.replace(/^ {2}/, '').replace(/^(\S.*?\S) {3,}(\S.*)$/, '$1    # $2');
}

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
