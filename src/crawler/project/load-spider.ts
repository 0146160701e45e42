/** Load a spider of a project together with the settings that it runs with. */
import { SettingsError } from '../../errors.js';
import { type Logger, silentLogger } from '../../log.js';
import { checkName } from '../../settings/keys.js';
import type { Settings } from '../../settings/schema.js';
import { type LoadedSettings, type LoadOptions, loadSettings } from '../../settings/sources/load-settings.js';
import type { Discovery, FoundSpider } from '../../spider/loading/discover.js';
import type { Spider } from '../../spider/spider.js';
import { type Stats, uncountedStats } from '../../stats/stats.js';
import { refuseUnsendable } from './sendable-headers.js';

/** The sources of the settings of a project, except those of a spider. */
export interface ProjectSource extends Omit<LoadOptions, 'spider'> {
  /**
   * Called as soon as settings are loaded, before any message about them, to mask their secrets and show their warnings. It
   * is called again with the settings of the spider.
   */
  onLoaded?(loaded: LoadedSettings): void;
}

/** A spider of a project, with the settings that it runs with. */
export interface LoadedSpider {
  readonly loaded: LoadedSettings;
  readonly found: FoundSpider;
  /** Create the spider as the crawl uses it, with arguments, logger and settings. */
  create(log?: Logger, stats?: Stats): Promise<Spider>;
}

/** The settings of a project, without those of a spider. @throws SettingsError */
export function loadProject(source: ProjectSource): LoadedSettings {
  return load(source);
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
  const { settings } = load(source);
  await beforehand(settings);
  const discovery = await discover(settings, args);
  const { findSpider } = await import('../../spider/loading/discover.js');
  return configureSpider(source, findSpider(discovery, name), args, settings);
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
  const spider = createSpider(found.SpiderClass, { args, settings: project });
  // Checked early, so that every command that uses the spider reports bad rules first.
  refreshOf(spider);
  const where = `customSettings of the spider ${found.name} (${found.file})`;
  const loaded = load(source, { settings: plainObject(spider.customSettings, where), where });
  return {
    loaded,
    found,
    create: async (log = silentLogger, stats = uncountedStats) =>
      createSpider(found.SpiderClass, { args, log, settings: loaded.settings, stats }),
  };
}

function load({ onLoaded, ...source }: ProjectSource, spider?: LoadOptions['spider']): LoadedSettings {
  const loaded = loadSettings({ ...source, spider });
  onLoaded?.(loaded);
  refuseUnsendable(loaded.settings);
  return loaded;
}

function plainObject(value: unknown, where: string): object {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new SettingsError(`${where}: expected an object of settings, got ${typeof value}`);
}
