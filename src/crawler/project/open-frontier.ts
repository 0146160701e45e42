/** Open the frontier of a crawl from the settings of its spider. */

import { SettingsError } from '../../errors.js';
import { openFrontier } from '../../frontier/choose-engine.js';
import type { Frontier } from '../../frontier/frontier.js';
import type { OpenOptions, PartitionPlace } from '../../frontier/open-options.js';
import { expandKeys, namesSpider } from '../../settings/keys.js';
import type { Settings } from '../../settings/schema.js';
import { shapeOf } from './settings-to-options.js';
import { partitionAddresses, storeOf } from './store-address.js';

/** The options to open the frontier of a spider and of the JOB of the settings. @throws SettingsError */
export function openOptions(settings: Settings, spider: string): OpenOptions {
  const store = storeOf(settings);
  const cluster = store.engine === 'redis' && store.address.kind === 'cluster';
  const partitions = partitionsOf(settings, spider, cluster);
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
    ...(partitions !== null && { partitions }),
    allowEviction: settings.REDIS_ALLOW_EVICTION,
    waitReplicas: settings.REDIS_WAIT_REPLICAS,
    connectTimeoutMs: settings.REDIS_CONNECT_TIMEOUT * 1000,
  };
}

/** Null for a crawl of one partition. @throws SettingsError for keys that partitions would share. */
function partitionsOf(settings: Settings, spider: string, cluster: boolean): PartitionPlace[] | null {
  const addresses = partitionAddresses(settings);
  if (addresses === null) return null;
  for (const name of [
    'SCHEDULER_QUEUE_KEY',
    'SCHEDULER_DUPEFILTER_KEY',
    'REDIS_ITEMS_KEY',
    'STATS_KEY',
  ] as const) {
    if (namesSpider(settings[name])) continue;
    throw new SettingsError(
      `${name}: with SCHEDULER_PARTITIONS the key needs %(spider)s, since each partition has its own`,
    );
  }
  return addresses.map((address, partition) => ({
    address,
    keys: expandKeys(settings, spider, settings.JOB, { cluster, partition }),
  }));
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
