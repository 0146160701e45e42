/** docs/reference/settings.md, from the schema of settings. */
import { stringify } from 'yaml';
import type { Definition } from '../../src/settings/kinds.js';
import { definitionOf } from '../../src/settings/schema.js';
import { cookieSettings } from '../../src/settings/sections/cookies.js';
import { downloadSettings } from '../../src/settings/sections/download.js';
import { frontierSettings } from '../../src/settings/sections/frontier.js';
import { httpCacheSettings } from '../../src/settings/sections/http-cache.js';
import { itemSettings } from '../../src/settings/sections/items.js';
import { projectSettings } from '../../src/settings/sections/project.js';
import { proxySettings } from '../../src/settings/sections/proxies.js';
import { redisSettings } from '../../src/settings/sections/redis-connection.js';
import { code, page, plain, table } from './markdown.js';

const sections: readonly (readonly [title: string, settings: object])[] = [
  ['The project, the job, and the life of a node', projectSettings],
  ['Redis', redisSettings],
  ['The frontier: order, dupefilter, seeds, keys, end of a crawl', frontierSettings],
  ['Items', itemSettings],
  ['Politeness, download, retries, limits', downloadSettings],
  ['Cookies', cookieSettings],
  ['Proxies', proxySettings],
  ['HTTP cache', httpCacheSettings],
];

const intro = `A setting can be written in five places. When several of them name it, the first of this list wins:

1. the command line: \`-s NAME=VALUE\`, or an option that stands for the setting, such as \`--job\`
2. the environment: a variable of the same name. An empty variable counts as not set.
3. the spider: its \`customSettings\`
4. the settings file: \`crawlnode.yaml\` or \`config/crawlnode.yaml\` of the project, or the file given with \`-c\`
5. the default

\`crawlnode settings\` prints every setting in effect and where its value comes from; \`crawlnode settings --changed\` prints
those that differ from the default. [config/crawlnode.yaml](../../config/crawlnode.yaml) is the same list as a settings file
to copy from.

Times are in seconds and sizes in bytes, as in Scrapy. In the environment and after \`-s\`, a list is JSON or separated by
commas (\`RETRY_HTTP_CODES=500,503\`), and a map is JSON. Relative paths count from the project folder. An unknown name is an
error that names the nearest setting there is. A project can declare [settings of its own](../guide/own-settings.md).`;

/** The page. */
export function settingsPage(): string {
  const parts = sections.map(([title, settings]) => `## ${title}\n\n${settingsTable(Object.keys(settings))}`);
  return page('# Settings', intro, ...parts, withoutEffect());
}

function settingsTable(names: readonly string[]): string {
  const rows = names
    .map((name) => ({ name, definition: definitionOf(name)! }))
    .filter(({ definition }) => definition.ignored === null && !comesLater(definition))
    .map(({ name, definition }) => [
      `<a name="${name}"></a>${code(name)}`,
      defaultText(definition.default),
      definition.unit,
      plain(definition.text),
    ]);
  return table(['setting', 'default', 'unit', 'meaning'], rows);
}

/** Settings that are accepted and do nothing, now or ever. */
function withoutEffect(): string {
  const all = sections.flatMap(([, settings]) => Object.keys(settings));
  const named = (test: (definition: Definition) => boolean) =>
    all.filter((name) => test(definitionOf(name)!)).map((name) => `<a name="${name}"></a>${code(name)}`);
  const ignored = named(({ ignored }) => ignored !== null);
  const later = named(comesLater);
  const parts = [
    '## Settings without effect',
    `Settings of Scrapy and Scrapy-Redis that have no meaning here are accepted, and a crawl that sets one says so: ${ignored.join(', ')}.`,
  ];
  if (later.length > 0) {
    parts.push(
      `These belong to features of a later version. A crawl that sets one to anything but "off" says so: ${later.join(', ')}.`,
    );
  }
  return parts.join('\n\n');
}

function comesLater({ later }: Definition): boolean {
  return later !== null;
}

function defaultText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return code(String(value));
  return code(stringify(value, { lineWidth: 0, collectionStyle: 'flow' }).trim());
}
