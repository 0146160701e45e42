/** Selects the parts of a crawl that a command works on. Parts shared with other spiders are skipped. */
import { UsageError } from '../../errors.js';
import { allParts, type Part } from '../../frontier/frontier.js';
import type { FrontierKeys, OpenOptions } from '../../frontier/open-options.js';
import { namesSpider } from '../../settings/keys.js';
import { didYouMean } from '../../settings/nearest.js';
import type { Settings } from '../../settings/schema.js';

/** The parts named in `--only`. @throws UsageError for an unknown part. */
export function namedParts(only: string): readonly Part[] {
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !(allParts as readonly string[]).includes(name));
  if (unknown === undefined) return names as Part[];
  throw new UsageError(
    `--only: unknown part ${JSON.stringify(unknown)}${didYouMean(unknown, allParts) || `; the parts are ${allParts.join(', ')}`}`,
  );
}

export interface OwnParts {
  readonly parts: readonly Part[];
  readonly keys: FrontierKeys;
  /** Keys that are skipped because other spiders may share them. */
  readonly skippedKeys: readonly string[];
}

/** Parts whose key template does not contain the spider may be shared, and are skipped unless `force`. */
export function ownParts(
  wanted: readonly Part[],
  settings: Settings,
  { keys }: Pick<OpenOptions, 'keys'>,
  force: boolean,
): OwnParts {
  if (force) return { parts: wanted, keys, skippedKeys: [] };
  const seeds = [settings.REDIS_START_URLS_KEY].flat();
  const startUrls = keys.startUrls.filter((_, n) => namesSpider(seeds[n]!));
  const templates: Partial<Record<Part, [template: string, key: string]>> = {
    queue: [settings.SCHEDULER_QUEUE_KEY, keys.requests],
    failed: [settings.SCHEDULER_QUEUE_KEY, keys.requests],
    dupefilter: [settings.SCHEDULER_DUPEFILTER_KEY, keys.dupefilter],
    items: [settings.REDIS_ITEMS_KEY, keys.items],
    stats: [settings.STATS_KEY, keys.stats],
  };
  const isShared = (part: Part) =>
    part === 'start_urls' ? startUrls.length === 0 : !namesSpider(templates[part]![0]);
  const skippedKeys = [
    ...wanted.filter((part) => part !== 'start_urls' && isShared(part)).map((part) => templates[part]![1]),
    ...(wanted.includes('start_urls') ? keys.startUrls.filter((key) => !startUrls.includes(key)) : []),
  ];
  return {
    parts: wanted.filter((part) => !isShared(part)),
    keys: { ...keys, startUrls },
    skippedKeys: [...new Set(skippedKeys)],
  };
}
