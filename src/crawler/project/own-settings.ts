/** Load the module that declares the settings of a project itself (SETTINGS_SCHEMA). */
import type { OwnSettings } from '../../settings/own/own-settings.js';
import type { LoadOptions } from '../../settings/sources/load-settings.js';
import { schemaSetting } from '../../settings/sources/schema-setting.js';
import type { SettingsFile } from '../../settings/sources/yaml-file.js';
import { settingModule } from './setting-module.js';

/**
 * The settings that the project declares; null when there is no SETTINGS_SCHEMA.
 * @param beforeModule called before the module is loaded
 * @throws SettingsError for a module that does not exist or load, and for a schema that declares no settings
 */
export async function loadOwnSettings(
  options: LoadOptions,
  file: SettingsFile,
  beforeModule?: () => Promise<unknown>,
): Promise<OwnSettings | null> {
  const given = schemaSetting(options, file);
  if (given === null) return null;
  const { ownSettings } = await import('../../settings/own/own-settings.js');
  if (typeof given !== 'string') return ownSettings(given, 'the schema of the program');
  const exported = await settingModule('SETTINGS_SCHEMA', given, file.projectDir, beforeModule);
  return ownSettings(exported, given);
}
