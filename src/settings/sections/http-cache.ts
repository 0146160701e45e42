/** Settings: the HTTP cache. */
import * as z from 'zod';
import { decimal, filePath, flag, list, parseNumber } from '../kinds.js';

export const httpCacheSettings = {
  /**
   * Keep every page in a file and do not download it again, for development and tests without a network. A
   * request with meta.dont_cache does not use the cache. Default: false.
   */
  HTTPCACHE_ENABLED: flag({ default: false }),
  /**
   * The folder of the cache, with a folder for each spider. All nodes of a machine may share it. Default:
   * ".crawlnode/httpcache".
   */
  HTTPCACHE_DIR: filePath({ default: '.crawlnode/httpcache' }),
  /** Pages older than this are downloaded again. 0 is never. Unit: seconds. Default: 0. */
  HTTPCACHE_EXPIRATION_SECS: decimal({ default: 0, unit: 'seconds' }),
  /** Responses with these statuses are not cached. Default: []. */
  HTTPCACHE_IGNORE_HTTP_CODES: list(z.int().min(100).max(999), {
    default: [],
    expects: 'a list of status codes',
    item: parseNumber,
  }),
  /** Pages that are not in the cache fail as not_cached, and nothing is downloaded. Default: false. */
  HTTPCACHE_IGNORE_MISSING: flag({ default: false }),
  /** Pages of these URL schemes are not cached. Default: ["file"]. */
  HTTPCACHE_IGNORE_SCHEMES: list(z.string(), {
    default: ['file'],
    expects: 'a list of URL schemes, such as http',
  }),
  /** Compress the files of the cache. Default: false. */
  HTTPCACHE_GZIP: flag({ default: false }),
};
