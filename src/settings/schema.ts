/**
 * The list of all settings, with the names of Scrapy and Scrapy-Redis: type, default, unit and description. The loader,
 * `crawlnode settings`, `config/crawlnode.yaml` and the docs derive from it.
 */
import type { z } from 'zod';
import type { Definition } from './kinds.js';
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

export const definitions = {
  ...projectSettings,
  ...redisSettings,
  ...frontierSettings,
  ...itemSettings,
  ...fileSettings,
  ...downloadSettings,
  ...cookieSettings,
  ...proxySettings,
  ...httpCacheSettings,
  ...middlewareSettings,
};

export type SettingName = keyof typeof definitions;

/** All settings as the program reads them, normalized and with absolute paths. Units are those of Scrapy (seconds, bytes). */
export type Settings = {
  readonly [N in SettingName]: z.output<(typeof definitions)[N]['zod']>;
};

/** Settings as a settings file or a spider may write them: any of them, in any accepted spelling. */
export type SettingsInput = {
  readonly [N in SettingName]?: z.input<(typeof definitions)[N]['zod']> | undefined;
};

export const settingNames = Object.keys(definitions) as SettingName[];

/** The definition of a setting, or null for an unknown name. */
export function definitionOf(name: string): Definition<unknown, unknown> | null {
  return Object.hasOwn(definitions, name)
    ? (definitions[name as SettingName] as unknown as Definition<unknown, unknown>)
    : null;
}
