/** docs/reference/settings.md, from the schema of settings. */
import { stringify } from 'yaml';
import { definitionOf, settingNames, settingSections } from '../../src/settings/schema.js';
import { code, page, plain, table } from './markdown.js';
import { meaningOf } from './setting-docstrings.js';

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
  const parts = settingSections.map(([title, names]) => `## ${title}\n\n${settingsTable(names)}`);
  return page('# Settings', intro, ...parts, withoutEffect());
}

function settingsTable(names: readonly string[]): string {
  const rows = names
    .map((name) => ({ name, definition: definitionOf(name)! }))
    .filter(({ definition }) => definition.ignored === null)
    .map(({ name, definition }) => [
      `<a name="${name}"></a>${code(name)}`,
      defaultText(definition.default),
      definition.unit,
      plain(meaningOf(name)),
    ]);
  return table(['setting', 'default', 'unit', 'meaning'], rows);
}

/** Settings that are accepted and do nothing. */
function withoutEffect(): string {
  const ignored = settingNames.filter((name) => definitionOf(name)!.ignored !== null);
  const names = ignored.map((name) => `<a name="${name}"></a>${code(name)}`).join(', ');
  return `## Settings without effect\n\nThese settings are accepted, most of them for the sake of projects of Scrapy and Scrapy-Redis. A crawl that sets one says so, with the reason: ${names}.`;
}

function defaultText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return code(String(value));
  return code(stringify(value, { lineWidth: 0, collectionStyle: 'flow' }).trim());
}
