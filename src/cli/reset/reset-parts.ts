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
  const requests = [[settings.SCHEDULER_QUEUE_KEY, keys.requests]] as const;
  const ofPart: Readonly<Record<Part, readonly (readonly [template: string, key: string])[]>> = {
    ...{ queue: requests, failed: requests },
    dupefilter: [[settings.SCHEDULER_DUPEFILTER_KEY, keys.dupefilter]],
    items: [[settings.REDIS_ITEMS_KEY, keys.items]],
    stats: [[settings.STATS_KEY, keys.stats]],
    start_urls: keys.startUrls.map((key, n) => [seeds[n]!, key]),
  };
  const keysOf = (part: Part, isOwn: boolean) =>
    ofPart[part].filter(([template]) => namesSpider(template) === isOwn).map(([, key]) => key);
  return {
    parts: wanted.filter((part) => keysOf(part, true).length > 0),
    keys: { ...keys, startUrls: keysOf('start_urls', true) },
    skippedKeys: [...new Set(wanted.flatMap((part) => keysOf(part, false)))],
  };
}
