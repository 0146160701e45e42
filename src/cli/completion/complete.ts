/** What can be typed at the end of a command line, by the declarations of the commands. */
import { Command, type Option } from 'commander';
import { failedReasons } from '../../crawler/requests/failed-reasons.js';
import { allParts } from '../../frontier/frontier.js';
import { definitionOf, settingNames } from '../../settings/schema.js';
import { logLevels } from '../../settings/sections/project.js';
import type { CommandTable } from '../command.js';
import { type Context, print } from '../context.js';
import { createProgram } from '../program.js';
import { projectSpiders } from './project-spiders.js';

/** A word, and its description. */
type Offer = readonly [word: string, text: string];

/** Print what fits the last word, one a line with its description behind a tab. Where nothing is printed, a shell offers files. */
export async function completeWords(
  context: Context,
  table: CommandTable,
  words: readonly string[],
): Promise<void> {
  const last = words.at(-1) ?? '';
  for (const [word, text] of await offersFor(context, table, words.slice(0, -1), last)) {
    if (word.startsWith(last)) print(context, text === '' ? word : `${word}\t${text}`);
  }
}

async function offersFor(
  context: Context,
  table: CommandTable,
  before: readonly string[],
  last: string,
): Promise<Offer[]> {
  const globals = createProgram(context, () => {}).options;
  const commands = Object.entries(table).map(([name, { summary }]): Offer => [name, summary]);
  let name: string | null = null;
  let command = new Command();
  let place = 0;
  let waiting: Option | undefined;
  for (const word of before) {
    if (waiting !== undefined) waiting = undefined;
    else if (word.startsWith('-')) {
      waiting = [...command.options, ...globals].find(({ short, long }) => word === short || word === long);
      if (waiting?.required === false) waiting = undefined;
    } else if (name === null) {
      name = word;
      command = new Command(word);
      if (Object.hasOwn(table, word)) (await table[word]!.load()).command.define(command);
    } else place += 1;
  }
  if (waiting !== undefined) return valuesOf(context, placeholderOf(waiting), waiting.argChoices, last);
  if (last.startsWith('-')) {
    const options = [...command.options, ...globals].map(
      ({ long, description }): Offer => [long!, description],
    );
    return [...options, ['--help', 'show the help']];
  }
  if (name === null) return [...commands, ['help', 'show the help of a command']];
  if (name === 'help') return place === 0 ? commands : [];
  const argument = command.registeredArguments[place];
  return argument === undefined ? [] : valuesOf(context, argument.name(), argument.argChoices, last);
}

const placeholderOf = ({ flags }: Option) => /<([^>]+)>/.exec(flags)?.[1] ?? '';

/** Arguments and values whose words commander does not know, as they may be lists or in other spellings too. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  level: logLevels,
  parts: allParts,
  reasons: failedReasons,
  format: ['csv', 'jsonl'],
  method: ['GET', 'POST', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
};

/** @param placeholder the name of an argument or of the value of an option */
async function valuesOf(
  context: Context,
  placeholder: string,
  choices: readonly string[] | undefined,
  last: string,
): Promise<Offer[]> {
  const words =
    choices ??
    wordsOf[placeholder] ??
    (placeholder === 'spider' ? await projectSpiders(context) : null) ??
    (placeholder === 'NAME=VALUE' ? settingTexts(last) : []);
  return words.map((word) => [word, '']);
}

function settingTexts(last: string): string[] {
  const [name = '', value] = last.split('=');
  if (value === undefined) return settingNames.map((each) => `${each}=`);
  return (definitionOf(name)?.offered ?? []).map((offered) => `${name}=${offered}`);
}
