/** The command line as plain data, read from the declarations of all commands: what completion scripts are made of. */
import { Command, type Option } from 'commander';
import { failedReasons } from '../../crawler/requests/failed-reasons.js';
import { allParts } from '../../frontier/frontier.js';
import { definitionOf, shownNames } from '../../settings/schema.js';
import { logLevels } from '../../settings/sections/project.js';
import type { CliCommand } from '../command.js';

/** What can be typed at a place: one of some words, or a file, a folder, a spider; `any` is not completed. */
export type Value = readonly string[] | 'file' | 'folder' | 'spider' | 'setting' | 'any';

export interface TreeOption {
  /** `-o`, `--output`. */
  readonly flags: readonly string[];
  readonly text: string;
  /** Null for an option without a value. */
  readonly value: Value | null;
}

export interface TreeCommand {
  readonly name: string;
  readonly text: string;
  readonly options: readonly TreeOption[];
  /** In order. */
  readonly args: readonly Value[];
}

export interface CommandTree {
  /** The options of every command. */
  readonly globals: readonly TreeOption[];
  readonly commands: readonly TreeCommand[];
  /** For `-s NAME=VALUE`. */
  readonly settings: readonly TreeSetting[];
}

export interface TreeSetting {
  readonly name: string;
  /** Empty for a setting that is not one of a few values. */
  readonly values: readonly string[];
}

/** The table of `commands.ts`. */
export type CommandTable = Readonly<
  Record<string, { readonly summary: string; load(): Promise<{ readonly command: CliCommand }> }>
>;

/** @param program with the global options alone */
export async function commandTree(program: Command, table: CommandTable): Promise<CommandTree> {
  const commands: TreeCommand[] = [];
  for (const [name, { summary, load }] of Object.entries(table)) {
    const command = new Command(name);
    (await load()).command.define(command);
    commands.push({
      name,
      text: summary,
      options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
      args: command.registeredArguments.map((each) => valueKind(each.name(), each.argChoices)),
    });
  }
  const help = { flags: ['-h', '--help'], text: 'show the help', value: null };
  return { globals: [...program.options.map(optionOf), help], commands, settings };
}

const settings: readonly TreeSetting[] = shownNames.map((name) => ({
  name,
  values: definitionOf(name)!.offered,
}));

function optionOf(option: Option): TreeOption {
  const { short, long, description, flags, argChoices } = option;
  const [, placeholder] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    text: description,
    value: placeholder === undefined ? null : valueKind(placeholder, argChoices),
  };
}

/** Arguments and values whose words commander does not know, as they may be lists or in other spellings too. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  level: logLevels,
  parts: allParts,
  reasons: failedReasons,
  format: ['csv', 'jsonl'],
  method: ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
};

/** @param placeholder the name of an argument or of the value of an option */
function valueKind(placeholder: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return choices;
  if (Object.hasOwn(wordsOf, placeholder)) return wordsOf[placeholder]!;
  if (placeholder === 'spider') return 'spider';
  if (placeholder === 'NAME=VALUE') return 'setting';
  if (placeholder === 'dir') return 'folder';
  return /^(file|page)$/.test(placeholder) ? 'file' : 'any';
}
