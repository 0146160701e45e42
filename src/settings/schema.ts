/** The types of all settings, and how a definition is found by its name. */
import type * as z from 'zod';
import { definitions, type SettingName, settingSections } from './definitions.js';
import type { Definition } from './kinds.js';
import type { OwnSettingsInput, OwnSettingsOutput } from './own/project-types.js';

export { definitions, type SettingName, settingSections };

/**
 * Settings as a settings file or a spider may write them: any of them, in any accepted spelling, with those that the project
 * declares (`ProjectTypes`). Times are in seconds, sizes in bytes.
 */
export type SettingsInput = {
  readonly [N in keyof typeof definitions]?: z.input<(typeof definitions)[N]['zod']> | undefined;
} & OwnSettingsInput;

/**
 * All settings as the program reads them, normalized and with absolute paths. Units are those of Scrapy (seconds, bytes).
 * With those of the schema of the project (`ProjectTypes`).
 */
export type Settings = {
  readonly [N in keyof typeof definitions]: z.output<(typeof definitions)[N]['zod']>;
} & OwnSettingsOutput;

export const settingNames = Object.keys(definitions) as SettingName[];

/** The definition of a setting, or null for an unknown name. */
export function definitionOf(name: string): Definition<unknown, unknown> | null {
  return Object.hasOwn(definitions, name)
    ? (definitions[name as SettingName] as unknown as Definition<unknown, unknown>)
    : null;
}
