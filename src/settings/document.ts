/** Generate the commented settings file from the schema. Its output is committed as `config/crawlnode.yaml`. */
import { stringify } from 'yaml';
import { definitionOf } from './schema.js';
import { cookieSettings } from './sections/cookies.js';
import { downloadSettings } from './sections/download.js';
import { fileSettings } from './sections/files.js';
import { frontierSettings } from './sections/frontier.js';
import { httpCacheSettings } from './sections/http-cache.js';
import { itemSettings } from './sections/items.js';
import { middlewareSettings } from './sections/middleware.js';
import { projectSettings } from './sections/project.js';
import { proxySettings } from './sections/proxies.js';
import { redisSettings } from './sections/redis-connection.js';

const WIDTH = 100;

const preamble = `# Settings of a crawlnode project. Each line shows a default: remove the "#" of a setting to change it.
# The same names work in the environment, as -s NAME=VALUE, and in a spider's customSettings.
# The order of precedence is: command line, environment, spider, this file.
# Relative paths are resolved from the project folder: the one that holds this file, or its config/ folder.
# Times are in seconds and sizes in bytes, as in Scrapy. "crawlnode settings" prints the values in effect.
`;

const sections: readonly (readonly [title: string, settings: object])[] = [
  ['The project, the job, and the lifetime of a node', projectSettings],
  ['Redis (without a Redis address the crawl is embedded, under JOBDIR)', redisSettings],
  ['The frontier: order, seen requests, seeds, names of keys, closing', frontierSettings],
  ['Items', itemSettings],
  ['Files and images of items', fileSettings],
  ['Politeness, download, retries, limits', downloadSettings],
  ['Cookies', cookieSettings],
  ['Proxies', proxySettings],
  ['HTTP cache', httpCacheSettings],
  ['Middleware', middlewareSettings],
];

/** Every setting with its description, unit and default, the defaults commented out; valid YAML either way. */
export function documentSettings(): string {
  const rule = `# ${'-'.repeat(WIDTH)}\n`;
  const parts = sections.map(
    ([title, settings]) =>
      `${rule}# ${title}\n${rule}\n${Object.keys(settings).map(documentSetting).join('\n')}`,
  );
  return [preamble, ...parts].join('\n');
}

function documentSetting(name: string): string {
  const definition = definitionOf(name)!;
  const notes = [
    definition.text,
    definition.unit && `Unit: ${definition.unit}.`,
    definition.isCommonName &&
      'Other programs use this name too, so a wrong value in the environment is only a warning.',
    definition.later && definition.later.unless.length < 2 && 'Without effect before a later version.',
  ];
  const description = wrap(notes.filter(Boolean).join(' '));
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

function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
