/** Key templates into the names of one spider's and job's keys in the store. */
import { SettingsError, UsageError } from '../errors.js';
import type { Settings } from './schema.js';
import { namePattern } from './sections/project.js';

/** Structurally the `FrontierKeys` of the seam. */
export interface ExpandedKeys {
  readonly requests: string;
  readonly dupefilter: string;
  readonly startUrls: readonly string[];
  readonly items: string;
  readonly stats: string;
}

type KeySettings = Pick<
  Settings,
  | 'SCHEDULER_QUEUE_KEY'
  | 'SCHEDULER_DUPEFILTER_KEY'
  | 'REDIS_START_URLS_KEY'
  | 'REDIS_ITEMS_KEY'
  | 'STATS_KEY'
>;

/**
 * Expand `%(spider)s` and `%(name)s`; a job appends `@ID` to every key; in a Cluster the spider's part stands in
 * braces, `{news}:requests`, so that all keys of a spider share one slot (and of a job: the tag is the same).
 * @throws SettingsError for a template that names anything else, two settings with one key, or in a Cluster a
 * key outside the spider's slot.
 */
export function expandKeys(
  settings: KeySettings,
  spider: string,
  job: string | null,
  { cluster }: { readonly cluster: boolean },
): ExpandedKeys {
  checkName('spider', spider);
  if (job !== null) checkName('job', job);
  const expand = (name: string, template: string) => expandKey(name, template, spider, job, cluster);
  const seeds = settings.REDIS_START_URLS_KEY;
  const keys: ExpandedKeys = {
    requests: expand('SCHEDULER_QUEUE_KEY', settings.SCHEDULER_QUEUE_KEY),
    dupefilter: expand('SCHEDULER_DUPEFILTER_KEY', settings.SCHEDULER_DUPEFILTER_KEY),
    startUrls: (Array.isArray(seeds) ? seeds : [seeds]).map((key) => expand('REDIS_START_URLS_KEY', key)),
    items: expand('REDIS_ITEMS_KEY', settings.REDIS_ITEMS_KEY),
    stats: expand('STATS_KEY', settings.STATS_KEY),
  };
  refuseCollisions(keys);
  return keys;
}

/** Whether a template names the spider; one that does not is shared, and reset leaves it alone without --force. */
export function namesSpider(template: string): boolean {
  return /%\((spider|name)\)s/.test(template);
}

/** @throws UsageError when it cannot be part of a key name. */
export function checkName(what: 'spider' | 'job', name: string): void {
  if (namePattern.test(name)) return;
  throw new UsageError(
    `${JSON.stringify(name)} cannot be the name of a ${what}: use 1 to 64 letters, digits, dots, dashes and underscores`,
  );
}

function expandKey(
  name: string,
  template: string,
  spider: string,
  job: string | null,
  cluster: boolean,
): string {
  const foreign = /%(\([^)]*\))?.?/.exec(template.replace(/%\((?:spider|name)\)s|%%/g, ''))?.[0];
  if (foreign !== undefined) {
    throw new SettingsError(
      `${name}: ${JSON.stringify(template)} holds ${foreign}; only %(spider)s and %(name)s are known`,
    );
  }
  if (cluster && (!namesSpider(template) || template.includes('{'))) {
    throw new SettingsError(
      `${name}: ${JSON.stringify(template)} needs %(spider)s and no braces: in a Redis Cluster all keys of a spider share one slot`,
    );
  }
  let tagged = !cluster;
  const expanded = template.replace(/%(?:\((?:spider|name)\)s|%)/g, (found) => {
    if (found === '%%') return '%';
    if (tagged) return spider;
    tagged = true;
    return `{${spider}}`;
  });
  return job === null ? expanded : `${expanded}@${job}`;
}

/** One key with two meanings would be read as both. */
function refuseCollisions(keys: ExpandedKeys): void {
  const all = [keys.requests, keys.dupefilter, keys.items, keys.stats, ...keys.startUrls];
  const twice = all.find((key, index) => all.indexOf(key) !== index);
  if (twice !== undefined)
    throw new SettingsError(`the key ${twice} is used by two settings; give each its own`);
}
