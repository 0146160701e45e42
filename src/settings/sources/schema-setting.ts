/** SETTINGS_SCHEMA, read before all other settings: whether a name is a setting depends on it. */
import { definitions } from '../schema.js';
import type { LoadOptions } from './load-settings.js';
import { environmentText } from './settings-layers.js';
import type { SettingsFile } from './yaml-file.js';

const NAME = 'SETTINGS_SCHEMA';

/**
 * Its value: the path of a module, or a zod object of a program. Null without one, and for a value that it cannot take, which
 * `loadSettings` reports.
 */
export function schemaSetting(options: LoadOptions, file: SettingsFile): string | object | null {
  const { fromText, zod } = definitions[NAME];
  const texts = [options.cli[NAME], environmentText(options.env, NAME)].filter((text) => text !== undefined);
  const inCode = (options.code?.settings as Readonly<Record<string, unknown>> | undefined)?.[NAME];
  const given = [inCode, ...texts.map(fromText), file.entries.get(NAME)?.value];
  const parsed = zod.safeParse(given.find((value) => value !== undefined) ?? null);
  return parsed.success ? parsed.data : null;
}
