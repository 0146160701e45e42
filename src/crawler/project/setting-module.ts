/** Load a module that a setting names by itself, such as REQUEST_MODULE. */
import { messageOf, SettingsError } from '../../errors.js';

/**
 * The default export of the module.
 * @param beforeModule called before the module is loaded. @throws SettingsError for a module that does not exist or load
 */
export async function settingModule(
  setting: 'REQUEST_MODULE' | 'SETTINGS_SCHEMA',
  name: string,
  projectDir: string,
  beforeModule?: () => Promise<unknown>,
): Promise<unknown> {
  await beforeModule?.();
  const { loadModule } = await import('../../spider/loading/load-module.js');
  const { loadProjectModule } = await import('../../user-code/project-modules.js');
  const from = { setting, folder: '.', builtIn: [], projectDir, loadModule };
  return loadProjectModule(name, from).catch((error: unknown) => {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(`${setting}: ${messageOf(error)}`, { cause: error });
  });
}
