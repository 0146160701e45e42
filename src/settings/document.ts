/** Generate the commented settings file from the schema. Its output is committed as `config/crawlnode.yaml`. */
import { stringify } from 'yaml';
import { definitionOf, type SettingName, shownNames } from './schema.js';
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

/** What most projects change. */
const common: readonly SettingName[] = [
  ...(['USER_AGENT', 'ROBOTSTXT_OBEY', 'DOWNLOAD_DELAY', 'CONCURRENT_REQUESTS'] as const),
  ...(['CONCURRENT_REQUESTS_PER_DOMAIN', 'AUTOTHROTTLE_ENABLED', 'DOWNLOAD_TIMEOUT', 'RETRY_TIMES'] as const),
  ...(['HTTPERROR_ALLOWED_CODES', 'DEFAULT_REQUEST_HEADERS', 'COOKIES_ENABLED', 'PROXIES'] as const),
  ...(['DEPTH_LIMIT', 'ITEM_PIPELINES', 'FEEDS', 'REDIS_URL', 'DUPEFILTER_CLASS'] as const),
  ...(['CLOSESPIDER_TIMEOUT', 'HTTPCACHE_ENABLED', 'LOG_LEVEL'] as const),
];

const topics: readonly (readonly [title: string, settings: object])[] = [
  ['The project, the job, and the lifetime of a node', projectSettings],
  ['Redis', redisSettings],
  ['The frontier: order, seen requests, seeds, names of keys, closing', frontierSettings],
  ['Items', itemSettings],
  ['Files and images of items', fileSettings],
  ['Politeness, download, retries, limits', downloadSettings],
  ['Cookies', cookieSettings],
  ['Proxies', proxySettings],
  ['HTTP cache', httpCacheSettings],
  ['Middleware', middlewareSettings],
];

/** All settings for readers: the common ones first, then the others by topic. Those of features that are not there yet are left out. */
export const settingSections: readonly (readonly [title: string, names: readonly SettingName[]])[] = [
  ['The twenty settings that most projects change', common],
  ...topics.map(([title, settings]) => {
    const names = shownNames.filter((name) => name in settings && !common.includes(name));
    return [title, names] as const;
  }),
];

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
    definition.text,
    definition.unit && `Unit: ${definition.unit}.`,
    definition.isCommonName &&
      'Other programs use this name too, so a wrong value in the environment is only a warning.',
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
