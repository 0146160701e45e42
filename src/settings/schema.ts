/**
 * The one list of settings, by Scrapy's and Scrapy-Redis' own names: type, default, unit, description.
 * Everything else (the loader, `crawlnode settings`, `config/crawlnode.yaml`, the docs) follows from it.
 */
import type { z } from 'zod';
import type { Definition } from './kinds.js';
import { downloadSettings } from './sections/download.js';
import { frontierSettings } from './sections/frontier.js';
import { itemSettings } from './sections/items.js';
import { projectSettings } from './sections/project.js';
import { redisSettings } from './sections/redis.js';

export const definitions = {
  ...projectSettings,
  ...redisSettings,
  ...frontierSettings,
  ...itemSettings,
  ...downloadSettings,
};

export type SettingName = keyof typeof definitions;

/** What the program reads: complete, normalized, paths absolute. Units are Scrapy's (seconds, bytes). */
export type Settings = {
  readonly [N in SettingName]: z.output<(typeof definitions)[N]['zod']>;
};

/** What a settings file or a spider may write: any of them, in any accepted spelling. */
export type SettingsInput = {
  readonly [N in SettingName]?: z.input<(typeof definitions)[N]['zod']> | undefined;
};

export const settingNames = Object.keys(definitions) as SettingName[];

/** The definition of a setting, or null where there is none of that name. */
export function definitionOf(name: string): Definition<unknown, unknown> | null {
  return Object.hasOwn(definitions, name)
    ? (definitions[name as SettingName] as unknown as Definition<unknown, unknown>)
    : null;
}
