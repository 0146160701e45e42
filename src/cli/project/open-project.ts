/** Loads the project of a command: its spiders, and its settings from the folder, the environment and the options. */

import {
  discover as discoverIn,
  type LoadedSpider,
  loadProject as loadSettingsOf,
  loadSpider as loadSpiderOf,
  type ProjectSource,
} from '../../crawler/project/load-spider.js';
import { SpiderLoadError } from '../../errors.js';
import { secretFilter } from '../../settings/mask-secrets.js';
import type { Settings } from '../../settings/schema.js';
import type { LoadedSettings } from '../../settings/sources/load-settings.js';
import type { Discovery } from '../../spider/loading/discover.js';
import { cacheFolders } from '../cache-folders.js';
import { type Context, globalSettings, note } from '../context.js';
import { workerRole } from '../crawl/worker-channel.js';
import { crawlArguments } from '../messages/crawl-arguments.js';

/** Settings that options of a command set, such as JOB by `--job`. */
export type SettingTexts = Readonly<Record<string, string | undefined>>;

/** The settings of the project, without customSettings of a spider. @throws SettingsError */
export async function loadProject(context: Context, texts: SettingTexts = {}): Promise<LoadedSettings> {
  return loadSettingsOf(sourceOf(context, texts));
}

/** All spiders of the project. The result includes modules that failed to load. */
export async function discover(
  context: Pick<Context, 'env'>,
  settings: Settings,
  args: Record<string, string> = {},
): Promise<Discovery> {
  await enableTypeScriptCache(context);
  return discoverIn(settings, args);
}

/**
 * A spider and its settings.
 * @param beforeLoad called with the settings of the project before any module is loaded
 * @throws SpiderLoadError when there is no such spider (with similar names), or it does not load; SettingsError
 */
export async function loadSpider(
  context: Context,
  name: string,
  texts: SettingTexts = {},
  args: Record<string, string> = {},
  beforeLoad: (settings: Settings) => Promise<unknown> = async () => {},
): Promise<LoadedSpider> {
  return loadSpiderOf(sourceOf(context, texts), name, args, beforeLoad);
}

/**
 * The settings that locate the frontier of a spider. When its module is missing or does not load, these are the settings of
 * the project without customSettings. A notice says so, and `create` is null.
 * @param options `mayBeNew` for a command that needs no crawl in the store
 * @throws SpiderLoadError for a spider that has no crawl in the store either; SettingsError
 */
export async function loadSpiderOrSettings(
  context: Context,
  name: string,
  texts: SettingTexts = {},
  { mayBeNew = false }: { readonly mayBeNew?: boolean } = {},
): Promise<{ readonly loaded: LoadedSettings; readonly create: LoadedSpider['create'] | null }> {
  const project = await loadSpider(context, name, texts).catch(async (error: unknown) => {
    if (!(error instanceof SpiderLoadError)) throw error;
    const loaded = await loadProject(context, texts);
    const { isInStore } = await import('../../crawler/project/crawls-in-store.js');
    if (!mayBeNew && !(await isInStore(loaded.settings, name))) throw error;
    note(context, `${error.message}; continuing with the settings of the project, without customSettings`);
    return { loaded, create: null };
  });
  useCrawlInMessages(context, name, project.loaded);
  return project;
}

/** Use this crawl in commands that messages suggest. @returns the arguments that select it */
export function useCrawlInMessages(context: Context, spider: string, { settings }: LoadedSettings): string {
  context.crawl = crawlArguments(context, { spider, job: settings.JOB });
  return context.crawl;
}

/** Cache compiled TypeScript of the project between runs, where that is allowed. */
async function enableTypeScriptCache({ env }: Pick<Context, 'env'>): Promise<void> {
  const { setTypeScriptCache } = await import('../../spider/loading/load-module.js');
  setTypeScriptCache(cacheFolders(env).typescript);
}

function sourceOf(context: Context, texts: SettingTexts): ProjectSource {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined) as [string, string][];
  return {
    cwd: context.cwd,
    configFile: context.globals.config,
    env: context.env,
    cli: { ...globalSettings(context), ...Object.fromEntries(given) },
    beforeModules: () => enableTypeScriptCache(context),
    onLoaded: ({ settings, own, warnings }) => {
      context.mask = secretFilter(settings, own);
      context.logFormat = settings.LOG_FORMAT;
      warnOnce(context, warnings);
    },
  };
}

const warned = new WeakSet<Context>();

/** Some commands load a project several times. With `--workers` only the parent warns. */
function warnOnce(context: Context, warnings: readonly string[]): void {
  if (warned.has(context) || workerRole(context.env) !== null) return;
  warned.add(context);
  for (const warning of warnings) note(context, warning, 'warn');
}
