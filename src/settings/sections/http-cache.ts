/** Settings: the HTTP cache. */
import * as z from 'zod';
import { decimal, filePath, flag, list, parseNumber } from '../kinds.js';

export const httpCacheSettings = {
  HTTPCACHE_ENABLED: flag({
    default: false,
    text: 'Keep every page in a file and do not download it again, for development and tests without a network. A request with meta.dont_cache does not use the cache.',
  }),
  HTTPCACHE_DIR: filePath({
    default: '.crawlnode/httpcache',
    text: 'The folder of the cache, with a folder for each spider. All nodes of a machine may share it.',
  }),
  HTTPCACHE_EXPIRATION_SECS: decimal({
    default: 0,
    unit: 'seconds',
    text: 'Pages older than this are downloaded again. 0 is never.',
  }),
  HTTPCACHE_IGNORE_HTTP_CODES: list(z.int().min(100).max(999), {
    default: [],
    expects: 'a list of status codes',
    item: parseNumber,
    text: 'Responses with these statuses are not cached.',
  }),
  HTTPCACHE_IGNORE_MISSING: flag({
    default: false,
    text: 'Pages that are not in the cache fail as not_cached, and nothing is downloaded.',
  }),
  HTTPCACHE_IGNORE_SCHEMES: list(z.string(), {
    default: ['file'],
    expects: 'a list of URL schemes, such as http',
    text: 'Pages of these URL schemes are not cached.',
  }),
  HTTPCACHE_GZIP: flag({ default: false, text: 'Compress the files of the cache.' }),
};
