/** Load the module that declares the settings of a project itself (SETTINGS_SCHEMA). */
import { messageOf, SettingsError } from '../../errors.js';
import type { OwnSettings } from '../../settings/own/own-settings.js';
import type { LoadOptions } from '../../settings/sources/load-settings.js';
import { schemaSetting } from '../../settings/sources/schema-setting.js';
import type { SettingsFile } from '../../settings/sources/yaml-file.js';

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
  await beforeModule?.();
  const { loadModule } = await import('../../spider/loading/load-module.js');
  const { loadProjectModule } = await import('../../user-code/project-modules.js');
  const { projectDir } = file;
  const where = { setting: 'SETTINGS_SCHEMA', folder: '.', builtIn: [], projectDir, loadModule };
  const exported = await loadProjectModule(given, where).catch((error: unknown) => {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`SETTINGS_SCHEMA: ${messageOf(error)}`, { cause: error });
  });
  return ownSettings(exported, given);
}
