/**
 * The only place that constructs: settings → spiders → one spider → its frontier, downloader, pipelines. Every
 * command takes from here what it needs, and closes what it opened.
 */

import { shapeOf } from '../../crawler/project/engine-settings.js';
import { refuseUnsendable } from '../../crawler/project/sendable-headers.js';
import { storeOf } from '../../crawler/project/store-address.js';
import { SettingsError, SpiderLoadError } from '../../errors.js';
import type { Frontier } from '../../frontier/frontier.js';
import { type OpenOptions, openFrontier } from '../../frontier/open.js';
import { type Logger, silentLogger } from '../../log.js';
import { checkName, expandKeys } from '../../settings/keys.js';
import { type LoadedSettings, loadSettings } from '../../settings/load.js';
import { secretFilter } from '../../settings/mask.js';
import type { Settings } from '../../settings/schema.js';
import type { Discovery, FoundSpider } from '../../spider/loading/discover.js';
import type { Spider } from '../../spider/spider.js';
import { cacheFolders } from '../cache-folders.js';
import { type Context, globalSettings, note } from '../context.js';
import { crawlArguments } from '../crawl-arguments.js';

/** Settings that options of a command stand for, such as `--job` for JOB. */
export type SettingTexts = Readonly<Record<string, string | undefined>>;

export interface LoadedProject {
  readonly loaded: LoadedSettings;
}

export interface LoadedSpider extends LoadedProject {
  readonly found: FoundSpider;
  /** Make the spider as the crawl uses it, with arguments, logger and settings in place. */
  create(log?: Logger): Promise<Spider>;
}

/** The settings of the project, no spider's among them. @throws SettingsError */
export function loadProject(context: Context, texts: SettingTexts = {}): LoadedProject {
  return { loaded: load(context, texts) };
}

/** All spiders of the project; what does not load is in the answer too. */
export async function discover(
  { env }: Pick<Context, 'env'>,
  settings: Settings,
  args: Record<string, string> = {},
): Promise<Discovery> {
  const { discoverSpiders } = await import('../../spider/loading/discover.js');
  const { keepTypeScriptIn } = await import('../../spider/loading/load-module.js');
  keepTypeScriptIn(cacheFolders(env).typescript);
  return discoverSpiders(settings.SPIDER_MODULES, { args, settings });
}

/**
 * A spider, with the settings it runs under.
 * @param beforehand what is to be done before any module of the user's is loaded, given the settings of the project
 * @throws SpiderLoadError with near names when there is none, or it does not load; SettingsError
 */
export async function loadSpider(
  context: Context,
  name: string,
  texts: SettingTexts = {},
  args: Record<string, string> = {},
  beforehand: (settings: Settings) => Promise<unknown> = async () => {},
): Promise<LoadedSpider> {
  checkName('spider', name);
  const project = load(context, texts);
  await beforehand(project.settings);
  const discovery = await discover(context, project.settings, args);
  const { findSpider } = await import('../../spider/loading/discover.js');
  const found = findSpider(discovery, name);
  const { createSpider } = await import('../../spider/spider.js');
  const { refreshOf } = await import('../../spider/refresh.js');
  const spider = createSpider(found.SpiderClass, { args, settings: project.settings });
  // Said before anything is begun, by every command that has to do with the spider.
  refreshOf(spider);
  const { customSettings } = spider;
  const where = `customSettings of the spider ${name} (${found.file})`;
  const loaded = load(context, texts, { settings: plainObject(customSettings, where), where });
  return {
    loaded,
    found,
    create: async (log = silentLogger) =>
      createSpider(found.SpiderClass, { args, log, settings: loaded.settings }),
  };
}

/**
 * The settings to reach the frontier of a spider whose module need not be on this machine: then they are the file's
 * alone, which is said, and `create` is null.
 */
export async function loadSpiderOrSettings(
  context: Context,
  name: string,
  texts: SettingTexts = {},
): Promise<LoadedProject & { readonly create: LoadedSpider['create'] | null }> {
  const project = await loadSpider(context, name, texts).catch((error: unknown) => {
    if (!(error instanceof SpiderLoadError)) throw error;
    note(context, `${error.message}; going on with the settings of the project, without customSettings`);
    return { ...loadProject(context, texts), create: null };
  });
  speakOf(context, name, project);
  return project;
}

/** From here on what is advised to type names this crawl. @returns its arguments of a command */
export function speakOf(context: Context, spider: string, { loaded }: LoadedProject): string {
  context.crawl = crawlArguments(context, { spider, job: loaded.settings.JOB });
  return context.crawl;
}

/** How to open the frontier of a spider, under the JOB of the settings. @throws SettingsError */
export function openOptions(settings: Settings, spider: string): OpenOptions {
  const store = storeOf(settings);
  const cluster = store.engine === 'redis' && store.address.kind === 'cluster';
  return {
    store,
    keys: expandKeys(settings, spider, settings.JOB, { cluster }),
    startUrlsType: settings.REDIS_START_URLS_AS_SET
      ? 'set'
      : settings.REDIS_START_URLS_AS_ZSET
        ? 'zset'
        : 'list',
    seedsFiltered: settings.SEEDS_FILTERED,
    shape: shapeOf(settings),
    allowEviction: settings.REDIS_ALLOW_EVICTION,
    connectTimeoutMs: settings.REDIS_CONNECT_TIMEOUT * 1000,
  };
}

/** Open a frontier, do something with it, close it whatever happens. */
export async function withFrontier<T>(
  options: OpenOptions,
  use: (frontier: Frontier) => Promise<T>,
): Promise<T> {
  const frontier = await openFrontier(options);
  try {
    return await use(frontier);
  } finally {
    await frontier.close();
  }
}

function load(
  context: Context,
  texts: SettingTexts,
  spider?: { settings: object; where: string },
): LoadedSettings {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined) as [string, string][];
  const cli = { ...globalSettings(context), ...Object.fromEntries(given) };
  const { config } = context.globals;
  const loaded = loadSettings({ cwd: context.cwd, configFile: config, env: context.env, cli, spider });
  context.mask = secretFilter(loaded.settings);
  refuseUnsendable(loaded.settings);
  return loaded;
}

function plainObject(value: unknown, where: string): object {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new SettingsError(`${where}: expected an object of settings, got ${typeof value}`);
}
