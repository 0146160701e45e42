/** The types of all settings, and how a definition is found by its name. */
import type { z } from 'zod';
import { definitions, type SettingName } from './definitions.js';
import type { Definition } from './kinds.js';
import type { SettingsInput } from './settings-input.js';

export { definitions, type SettingName, type SettingsInput };

/**
 * All settings as the program reads them, normalized and with absolute paths. Units are those of Scrapy (seconds, bytes).
 * Made from `SettingsInput`, whose docstrings it keeps.
 */
export type Settings = {
  readonly [N in keyof SettingsInput]-?: z.output<(typeof definitions)[N]['zod']>;
};

export const settingNames = Object.keys(definitions) as SettingName[];

/** The definition of a setting, or null for an unknown name. */
export function definitionOf(name: string): Definition<unknown, unknown> | null {
  return Object.hasOwn(definitions, name)
    ? (definitions[name as SettingName] as unknown as Definition<unknown, unknown>)
    : null;
}
