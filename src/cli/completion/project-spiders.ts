/** The names of spiders that completion offers. */
import { loadSettings, settingsFileOf } from '../../settings/sources/load-settings.js';
import { namesInText } from '../../spider/loading/names-in-text.js';
import { type Context, globalSettings } from '../context.js';

/**
 * The names of the project's spiders. It answers while a user waits at the Tab key: no module of the project is loaded, and
 * of the settings only SPIDER_MODULES is read.
 * @throws SettingsError for a settings file that cannot be read
 */
export async function projectSpiders(context: Context): Promise<string[]> {
  const { cwd, env, globals } = context;
  const file = settingsFileOf({ cwd, env, cli: {}, configFile: globals.config });
  const entries = new Map([...file.entries].filter(([name]) => name === 'SPIDER_MODULES'));
  const { SPIDER_MODULES } = globalSettings(context);
  const options = {
    cwd,
    env: { SPIDER_MODULES: env.SPIDER_MODULES },
    cli: SPIDER_MODULES === undefined ? {} : { SPIDER_MODULES },
  };
  return namesInText(loadSettings(options, { file: { ...file, entries } }).settings.SPIDER_MODULES);
}
