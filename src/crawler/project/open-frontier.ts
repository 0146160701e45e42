/** Open the frontier of a crawl from the settings of its spider. */

import { openFrontier } from '../../frontier/choose-engine.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { OpenOptions } from '../../frontier/open-options.js';
import { expandKeys } from '../../settings/keys.js';
import type { Settings } from '../../settings/schema.js';
import { startUrlsTypes } from '../../settings/sections/frontier.js';
import { shapeOf } from './settings-to-options.js';
import { storeOf } from './store-address.js';

/** The options to open the frontier of a spider and of the JOB of the settings. @throws SettingsError */
export function openOptions(settings: Settings, spider: string): OpenOptions {
  const store = storeOf(settings);
  const cluster = store.engine === 'redis' && store.address.kind === 'cluster';
  return {
    store,
    keys: expandKeys(settings, spider, settings.JOB, { cluster }),
    startUrlsType: startUrlsTypes.find(([setting]) => settings[setting])?.[1] ?? 'list',
    seedsFiltered: settings.SEEDS_FILTERED,
    shape: shapeOf(settings),
    allowEviction: settings.REDIS_ALLOW_EVICTION,
    waitReplicas: settings.REDIS_WAIT_REPLICAS,
    connectTimeoutMs: settings.REDIS_CONNECT_TIMEOUT * 1000,
  };
}

/** Open a frontier, use it, and always close it. */
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
