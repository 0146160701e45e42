/** From the settings of a project to one of its spiders, ready to be created under the settings it runs with. */
import { SettingsError } from '../../errors.js';
import { type Logger, silentLogger } from '../../log.js';
import { checkName } from '../../settings/keys.js';
import { type LoadedSettings, type LoadOptions, loadSettings } from '../../settings/load.js';
import type { Settings } from '../../settings/schema.js';
import type { Discovery, FoundSpider } from '../../spider/loading/discover.js';
import type { Spider } from '../../spider/spider.js';
import { refuseUnsendable } from './sendable-headers.js';

/** Where the settings of a project come from, but for those of a spider. */
export interface ProjectSource extends Omit<LoadOptions, 'spider'> {
  /**
   * Called as soon as settings are loaded, before anything is said of them: to mask the secrets among them, and to say their
   * warnings. It is called twice where a spider has settings of its own.
   */
  onLoaded?(loaded: LoadedSettings): void;
}

/** A spider of a project, with the settings it runs under. */
export interface LoadedSpider {
  readonly loaded: LoadedSettings;
  readonly found: FoundSpider;
  /** Make the spider as the crawl uses it, with arguments, logger and settings in place. */
  create(log?: Logger): Promise<Spider>;
}

/** The settings of a project, no spider's among them. @throws SettingsError */
export function loadProject(source: ProjectSource): LoadedSettings {
  return load(source);
}

/** All spiders of a project; what does not load is in the answer too. */
export async function discover(settings: Settings, args: Record<string, string> = {}): Promise<Discovery> {
  const { discoverSpiders } = await import('../../spider/loading/discover.js');
  return discoverSpiders(settings.SPIDER_MODULES, { args, settings });
}

/**
 * A spider by its name.
 * @param beforehand what is to be done before any module of the user's is loaded, given the settings of the project
 * @throws SpiderLoadError with near names when there is none, or it does not load; SettingsError
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
 * A spider that was found, or whose class a program has at hand.
 * @param project the settings of the project, no spider's among them
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
  // Said before anything is begun, by every command that has to do with the spider.
  refreshOf(spider);
  const where = `customSettings of the spider ${found.name} (${found.file})`;
  const loaded = load(source, { settings: plainObject(spider.customSettings, where), where });
  return {
    loaded,
    found,
    create: async (log = silentLogger) =>
      createSpider(found.SpiderClass, { args, log, settings: loaded.settings }),
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
