/** `crawlnode settings`: the settings in effect and their sources, with secrets masked. */
import type { Command } from 'commander';
import { UsageError } from '../../errors.js';
import { maskSetting } from '../../settings/mask-secrets.js';
import { didYouMean } from '../../settings/nearest.js';
import { settingDefinition } from '../../settings/own/own-settings.js';
import { settingNames, settingSections } from '../../settings/schema.js';
import type { CliCommand } from '../command.js';
import { type Context, note, print, printJson } from '../context.js';
import { settingTextsOf } from '../options/spider-argument.js';
import { loadProject, loadSpider } from '../project/open-project.js';
import { printable } from '../terminal/printable.js';

const help = `
Prints each setting with its value and its source: cli, environment, spider, file or default. The twenty that most
projects change come first, those that the project declares (SETTINGS_SCHEMA) last. Secrets are masked.

Examples:
  crawlnode settings --changed
  crawlnode settings DOWNLOAD_DELAY CONCURRENT_REQUESTS --spider shop`;

export const command: CliCommand = {
  define: (command: Command) =>
    void command
      .argument('[name...]', 'only these settings')
      .option('--spider <spider>', 'include the customSettings of this spider')
      .option('--changed', 'only settings that differ from the default')
      .addHelpText('after', help),
  run: async (context, names, options) => {
    const loaded =
      typeof options.spider === 'string'
        ? (await loadSpider(context, options.spider, settingTextsOf(options))).loaded
        : await loadProject(context);
    const { own, settings } = loaded;
    const ownNames = [...(own?.definitions.keys() ?? [])];
    const all = [...settingNames, ...ownNames];
    for (const name of names) {
      if (!all.includes(name)) throw new UsageError(`unknown setting ${name}${didYouMean(name, all, 3)}`);
    }
    for (const notice of [...loaded.notices, ...loaded.missing]) note(context, notice);
    const rows = (names.length > 0 ? names : [...settingSections.flatMap(([, names]) => names), ...ownNames])
      .filter((name) => options.changed !== true || loaded.sources[name] !== 'default')
      .map((name) => ({
        name,
        value: maskSetting(name, (settings as Readonly<Record<string, unknown>>)[name], own) ?? null,
        source: loaded.sources[name]!,
        unit: settingDefinition(name, own)!.unit,
      }));
    show(context, rows);
    return 0;
  },
};

interface Row {
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
  readonly unit: string;
}

function show(context: Context, rows: readonly Row[]): void {
  if (context.globals.json) {
    printJson(context, Object.fromEntries(rows.map(({ name, value, source }) => [name, { value, source }])));
    return;
  }
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  for (const { name, value, source, unit } of rows) {
    const shown = printable(JSON.stringify(value));
    print(context, `${name.padEnd(width)}  ${shown}${unit && ` ${unit}`}  (${source})`);
  }
}
