/** The HTTP cache of a spider, by the settings. */
import path from 'node:path';
import type { Downloader } from '../../downloader/downloader.js';
import { fingerprint } from '../../http/message/fingerprint.js';
import { Request } from '../../http/message/request.js';
import { isRequestModuleError } from '../../http/message/request-module.js';
import type { Logger } from '../../log.js';
import type { Settings } from '../../settings/schema.js';
import type { Spider } from '../../spider/spider.js';
import { identityOf } from './settings-to-options.js';

/** The downloader of a node, behind the cache if HTTPCACHE_ENABLED is set. */
export async function cachedIfWanted(
  downloader: Downloader,
  settings: Settings,
  spider: Spider,
  log: Logger,
): Promise<Downloader> {
  if (!settings.HTTPCACHE_ENABLED) return downloader;
  const { withHttpCache } = await import('../../downloader/cache/cached-downloader.js');
  const ofSettings = identityOf(settings);
  return withHttpCache(downloader, {
    dir: path.join(settings.HTTPCACHE_DIR, spider.name),
    maxAgeMs: settings.HTTPCACHE_EXPIRATION_SECS * 1000,
    ignoredStatuses: settings.HTTPCACHE_IGNORE_HTTP_CODES,
    failsIfMissing: settings.HTTPCACHE_IGNORE_MISSING,
    ignoredSchemes: settings.HTTPCACHE_IGNORE_SCHEMES,
    isCompressed: settings.HTTPCACHE_GZIP,
    fingerprint: (asked) => {
      const request =
        asked instanceof Request ? asked : new Request(asked.url, { method: asked.method, body: asked.body });
      try {
        return spider.fingerprint?.(request) ?? ofSettings(request);
      } catch (error) {
        // A robots.txt is no request of the crawl, so REQUEST_MODULE need not know it.
        if (isRequestModuleError(error)) return fingerprint(request);
        throw error;
      }
    },
    log,
  });
}
