/** Expand the key templates of the settings into the names of the keys of one spider and job. */
import { SettingsError, UsageError } from '../errors.js';
import type { Settings } from './schema.js';
import { namePattern } from './sections/project.js';

/** The names of the keys of a crawl. */
export interface FrontierKeys {
  /** The HASH id → record; every internal key is this name + `:~` + a word. */
  readonly requests: string;
  readonly dupefilter: string;
  /** The dupefilter's key is also that of other spiders: its template does not name the spider. */
  readonly sharesDupefilter?: boolean;
  /** In the order they are read. */
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
 * Expand `%(spider)s` and `%(name)s`. A named job appends `@JOB` to every key. In a Cluster the name of the spider is a
 * hash tag in braces, `{news}:requests`, so that all keys of a spider and of its jobs are in one slot.
 * @throws SettingsError for a template with another placeholder, for two settings with the same key, and in a Cluster for
 *   a key outside the slot of the spider.
 */
export function expandKeys(
  settings: KeySettings,
  spider: string,
  job: string | null,
  { cluster }: { readonly cluster: boolean },
): FrontierKeys {
  checkName('spider', spider);
  if (job !== null) checkName('job', job);
  const expand = (name: string, template: string) => expandKey(name, template, spider, job, cluster);
  const seeds = settings.REDIS_START_URLS_KEY;
  const keys: FrontierKeys = {
    requests: expand('SCHEDULER_QUEUE_KEY', settings.SCHEDULER_QUEUE_KEY),
    dupefilter: expand('SCHEDULER_DUPEFILTER_KEY', settings.SCHEDULER_DUPEFILTER_KEY),
    ...(!namesSpider(settings.SCHEDULER_DUPEFILTER_KEY) && { sharesDupefilter: true }),
    startUrls: (Array.isArray(seeds) ? seeds : [seeds]).map((key) => expand('REDIS_START_URLS_KEY', key)),
    items: expand('REDIS_ITEMS_KEY', settings.REDIS_ITEMS_KEY),
    stats: expand('STATS_KEY', settings.STATS_KEY),
  };
  refuseCollisions(keys);
  return keys;
}

/** Whether a template contains the spider's name. Other keys are shared, and reset deletes them only with --force. */
export function namesSpider(template: string): boolean {
  return /%\((spider|name)\)s/.test(template);
}

/** @throws UsageError when the name cannot be part of a key. */
export function checkName(what: 'spider' | 'job', name: string): void {
  if (namePattern.test(name)) return;
  throw new UsageError(
    `${JSON.stringify(name)} cannot be the name of a ${what}: use 1 to 64 letters, digits, dots, dashes and underscores${/\.[cm]?[jt]s$/.test(name) ? `; "crawlnode runspider FILE" crawls the spider of a file` : ''}`,
  );
}

function expandKey(
  name: string,
  template: string,
  spider: string,
  job: string | null,
  cluster: boolean,
): string {
  const unknownPlaceholder = /%(\([^)]*\))?.?/.exec(template.replace(/%\((?:spider|name)\)s|%%/g, ''))?.[0];
  if (unknownPlaceholder !== undefined) {
    throw new SettingsError(
      `${name}: ${JSON.stringify(template)} contains ${unknownPlaceholder}; only %(spider)s and %(name)s are known`,
    );
  }
  if (cluster && (!namesSpider(template) || template.includes('{'))) {
    throw new SettingsError(
      `${name}: ${JSON.stringify(template)} needs %(spider)s and no braces: in a Redis Cluster all keys of a spider share one slot`,
    );
  }
  let hasHashTag = !cluster;
  const expanded = template.replace(/%(?:\((?:spider|name)\)s|%)/g, (found) => {
    if (found === '%%') return '%';
    if (hasHashTag) return spider;
    hasHashTag = true;
    return `{${spider}}`;
  });
  return job === null ? expanded : `${expanded}@${job}`;
}

/** Two structures under one key would be read as each other. */
function refuseCollisions(keys: FrontierKeys): void {
  const all = [keys.requests, keys.dupefilter, keys.items, keys.stats, ...keys.startUrls];
  const duplicate = all.find((key, index) => all.indexOf(key) !== index);
  if (duplicate !== undefined)
    throw new SettingsError(`the key ${duplicate} is used by two settings; give each setting its own key`);
}
