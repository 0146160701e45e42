/** Load a spider of a project together with the settings that it runs with. */
import { messageOf, SettingsError, SpiderLoadError } from '../../errors.js';
import { type Logger, silentLogger } from '../../log.js';
import { checkName } from '../../settings/keys.js';
import type { Settings } from '../../settings/schema.js';
import {
  type LoadedSettings,
  type LoadOptions,
  loadSettings,
  settingsFileOf,
} from '../../settings/sources/load-settings.js';
import type { Discovery, FoundSpider } from '../../spider/loading/discover.js';
import type { Spider } from '../../spider/spider.js';
import { type Stats, uncountedStats } from '../../stats/stats.js';
import { loadOwnSettings } from './own-settings.js';
import { withRequestModule } from './request-module.js';
import { refuseUnsendable } from './sendable-headers.js';

/** The sources of the settings of a project, except those of a spider. */
export interface ProjectSource extends Omit<LoadOptions, 'spider'> {
  /**
   * Called as soon as settings are loaded, before any message about them, to mask their secrets and show their warnings. It
   * is called again with the settings of the spider.
   */
  onLoaded?(loaded: LoadedSettings): void;
  /** Called before the first module of the project is loaded. */
  beforeModules?(): Promise<unknown>;
}

/** A spider of a project, with the settings that it runs with. */
export interface LoadedSpider {
  readonly loaded: LoadedSettings;
  readonly found: FoundSpider;
  /**
   * Create the spider as the crawl uses it, with arguments, logger and settings.
   * @throws SettingsError when a setting of the project itself that needs a value has none
   */
  create(log?: Logger, stats?: Stats): Promise<Spider>;
}

/** The settings of a project, with those of a spider if it is given. @throws SettingsError */
export async function loadProject(
  { onLoaded, beforeModules, ...source }: ProjectSource,
  spider?: LoadOptions['spider'],
): Promise<LoadedSettings> {
  const file = settingsFileOf(source);
  const own = await loadOwnSettings(source, file, beforeModules);
  const loaded = loadSettings({ ...source, spider }, { file, own });
  onLoaded?.(loaded);
  refuseUnsendable(loaded.settings);
  return withRequestModule(loaded, beforeModules);
}

/** Log the settings without effect. Called once, when a crawl starts. */
export function logSettingNotices({ notices }: LoadedSettings, log: Logger): void {
  for (const notice of notices) log.warn({}, notice);
}

/** @throws SettingsError that names each setting of the project itself that needs a value and has none */
export function refuseMissing({ missing }: LoadedSettings): void {
  if (missing.length > 0) throw new SettingsError(missing.join('\n'));
}

/** All spiders of a project. The result includes modules that do not load. */
export async function discover(settings: Settings, args: Record<string, string> = {}): Promise<Discovery> {
  const { discoverSpiders } = await import('../../spider/loading/discover.js');
  return discoverSpiders(settings.SPIDER_MODULES, { args, settings });
}

/**
 * Load a spider by its name.
 * @param beforehand called with the settings of the project, before any user's module is loaded
 * @throws SpiderLoadError when there is no such spider (with near names), or it does not load; SettingsError
 */
export async function loadSpider(
  source: ProjectSource,
  name: string,
  args: Record<string, string> = {},
  beforehand: (settings: Settings) => Promise<unknown> = async () => {},
): Promise<LoadedSpider> {
  checkName('spider', name);
  const { settings, missing } = await loadProject(source);
  await beforehand(settings);
  await source.beforeModules?.();
  const discovery = await discover(settings, args);
  return configureSpider(source, await find(discovery, name, missing), args, settings);
}

/** @param missing settings without a value, which a field of the spider may have needed */
async function find(discovery: Discovery, name: string, missing: readonly string[]): Promise<FoundSpider> {
  const { findSpider } = await import('../../spider/loading/discover.js');
  try {
    return findSpider(discovery, name);
  } catch (error) {
    if (discovery.broken.length === 0 || missing.length === 0) throw error;
    throw new SpiderLoadError([messageOf(error), ...missing].join('\n'), { cause: error });
  }
}

/**
 * Load the settings of a spider whose class is known.
 * @param project the settings of the project, without those of a spider
 * @throws SpiderLoadError for bad `refresh` rules; SettingsError
 */
export async function configureSpider(
  source: ProjectSource,
  found: FoundSpider,
  args: Record<string, string>,
  project: Settings,
): Promise<LoadedSpider> {
  const { createSpider } = await import('../../spider/spider.js');
  const { refreshOf } = await import('../../spider/refresh.js');
  const { adoptScrapyMembers, memberSettings } = await import('../../spider/loading/scrapy-members.js');
  const { misspeltMembers, unreadArguments } = await import('../../spider/loading/misspelt-members.js');
  const { withoutParse, withoutRules } = await import('../../spider/loading/spider-problems.js');
  const spider = createSpider(found.SpiderClass, { args, settings: project });
  adoptScrapyMembers(spider);
  const notices = [misspeltMembers, withoutParse, withoutRules, unreadArguments].flatMap((of) => of(spider));
  // Checked early, so that every command that uses the spider reports bad rules first.
  refreshOf(spider);
  const where = `customSettings of the spider ${found.name} (${found.file})`;
  const members = memberSettings(spider).map(({ name, value, member }) => ({
    ...{ name, value, where: `${member} of the spider ${found.name} (${found.file})` },
  }));
  const settings = plainObject(spider.customSettings, where);
  const ofSettings = await loadProject(source, { settings, where, members });
  const loaded = { ...ofSettings, notices: [...ofSettings.notices, ...notices] };
  return {
    loaded,
    found,
    create: async (log = silentLogger, stats = uncountedStats) => {
      refuseMissing(loaded);
      const created = createSpider(found.SpiderClass, { args, log, settings: loaded.settings, stats });
      adoptScrapyMembers(created);
      return created;
    },
  };
}

function plainObject(value: unknown, where: string): object {
  if (value === undefined || value === null) return {};
  if (isNamedValues(value)) return value;
  const got = typeof value === 'object' ? `a ${value.constructor.name}` : typeof value;
  throw new SettingsError(`${where}: expected an object of settings such as { DEPTH_LIMIT: 1 }, got ${got}`);
}

/** Whether a value is an object of named values, such as settings. A list, Map or Set looks like an object and has no names. */
export function isNamedValues(value: unknown): value is object {
  const isCollection = Array.isArray(value) || value instanceof Map || value instanceof Set;
  return typeof value === 'object' && value !== null && !isCollection;
}
