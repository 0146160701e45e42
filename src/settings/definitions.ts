/**
 * The list of all settings, with the names of Scrapy and Scrapy-Redis: type, default, unit, and a docstring, which an editor
 * shows. The loader, `crawlnode settings`, `config/crawlnode.yaml`, the types and the docs derive from it.
 */
import { cookieSettings } from './sections/cookies.js';
import { downloadSettings } from './sections/download.js';
import { fileSettings } from './sections/files.js';
import { frontierSettings } from './sections/frontier.js';
import { httpCacheSettings } from './sections/http-cache.js';
import { itemSettings } from './sections/items.js';
import { middlewareSettings } from './sections/middleware.js';
import { projectSettings } from './sections/project.js';
import { proxySettings } from './sections/proxies.js';
import { redisSettings } from './sections/redis-connection.js';

/** As an intersection, so that the declarations of the package keep the docstrings. */
type Definitions = typeof projectSettings &
  typeof redisSettings &
  typeof frontierSettings &
  typeof itemSettings &
  typeof fileSettings &
  typeof downloadSettings &
  typeof cookieSettings &
  typeof proxySettings &
  typeof httpCacheSettings &
  typeof middlewareSettings;

export const definitions: Definitions = {
  ...projectSettings,
  ...redisSettings,
  ...frontierSettings,
  ...itemSettings,
  ...fileSettings,
  ...downloadSettings,
  ...cookieSettings,
  ...proxySettings,
  ...httpCacheSettings,
  ...middlewareSettings,
};

export type SettingName = keyof Definitions;

/** What most projects change. */
const common: readonly SettingName[] = [
  ...(['USER_AGENT', 'ROBOTSTXT_OBEY', 'DOWNLOAD_DELAY', 'CONCURRENT_REQUESTS'] as const),
  ...(['CONCURRENT_REQUESTS_PER_DOMAIN', 'AUTOTHROTTLE_ENABLED', 'DOWNLOAD_TIMEOUT', 'RETRY_TIMES'] as const),
  ...(['HTTPERROR_ALLOWED_CODES', 'DEFAULT_REQUEST_HEADERS', 'COOKIES_ENABLED', 'PROXIES'] as const),
  ...(['DEPTH_LIMIT', 'ITEM_PIPELINES', 'FEEDS', 'REDIS_URL', 'DUPEFILTER_CLASS'] as const),
  ...(['CLOSESPIDER_TIMEOUT', 'HTTPCACHE_ENABLED', 'LOG_LEVEL'] as const),
];

const topics: readonly (readonly [title: string, settings: object])[] = [
  ['The project, the job, and the lifetime of a node', projectSettings],
  ['Redis', redisSettings],
  ['The frontier: order, seen requests, seeds, names of keys, closing', frontierSettings],
  ['Items', itemSettings],
  ['Files and images of items', fileSettings],
  ['Politeness, download, retries, limits', downloadSettings],
  ['Cookies', cookieSettings],
  ['Proxies', proxySettings],
  ['HTTP cache', httpCacheSettings],
  ['Middleware', middlewareSettings],
];

/** All settings for readers: the common ones first, then the others by topic. */
export const settingSections: readonly (readonly [title: string, names: readonly SettingName[]])[] = [
  ['The twenty settings that most projects change', common],
  ...topics.map(([title, settings]) => {
    const names = Object.keys(settings) as SettingName[];
    return [title, names.filter((name) => !common.includes(name))] as const;
  }),
];
