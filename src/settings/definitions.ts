/**
 * The list of all settings, with the names of Scrapy and Scrapy-Redis: type, default, unit and description. The loader,
 * `crawlnode settings`, `config/crawlnode.yaml`, the types and the docs derive from it.
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

export const definitions = {
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

export type SettingName = keyof typeof definitions;
