/** config/crawlnode.yaml: the commented settings file, from the definitions of the settings. */
import { stringify } from 'yaml';
import { wrap } from '../../src/cli/terminal/reflow.js';
import { definitionOf, settingSections } from '../../src/settings/schema.js';
import { meaningOf } from './setting-docstrings.js';

const WIDTH = 100;

const preamble = `# Settings of a crawlnode project. Each line shows a default: remove the "#" of a setting to change it.
# The same names work in the environment, as -s NAME=VALUE, and in a spider's customSettings.
# The order of precedence is: command line, environment, spider, this file.
# Relative paths are resolved from the project folder: the one that holds this file, or its config/ folder.
# Times are in seconds and sizes in bytes, as in Scrapy. "crawlnode settings" prints the values in effect.
`;

/** Every setting with its description, unit and default, the defaults commented out; valid YAML either way. */
export function documentSettings(): string {
  const rule = `# ${'-'.repeat(WIDTH)}\n`;
  const parts = settingSections.map(
    ([title, names]) => `${rule}# ${title}\n${rule}\n${names.map(documentSetting).join('\n')}`,
  );
  return [preamble, ...parts].join('\n');
}

function documentSetting(name: string): string {
  const definition = definitionOf(name)!;
  const notes = [
    meaningOf(name),
    definition.unit && `Unit: ${definition.unit}.`,
    definition.isCommonName &&
      'Other programs use this name too, so a wrong value in the environment is only a warning.',
  ];
  const description = wrap(notes.filter(Boolean).join(' '), WIDTH);
  return `${prefixed('# ', description)}${prefixed('#', defaultOf(name, definition.default))}`;
}

function defaultOf(name: string, value: unknown): string[] {
  const empty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  const flow = empty || Array.isArray(value);
  const text = flow
    ? `${name}: ${stringify(value, { lineWidth: 0, collectionStyle: 'flow' })}`
    : stringify({ [name]: value }, { lineWidth: 0 });
  return text.trimEnd().split('\n');
}

const prefixed = (prefix: string, lines: readonly string[]) =>
  lines.map((line) => `${prefix}${line}\n`).join('');
