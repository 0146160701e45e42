/** How tests open a frontier: a fresh crawl of some name, in a Redis or in a folder, with everything at its default. */
import type { Shape } from '../../src/frontier/frontier.js';
import type { OpenOptions, Store } from '../../src/frontier/open-options.js';

export const defaultShape: Shape = {
  queueClass: 'PriorityQueue',
  dupefilter: { class: 'RFPDupeFilter' },
  fingerprinter: 'scrapy-redis',
  domainKey: 'host',
  persist: true,
};

/** A crawl in the Redis of a URL, in an embedded frontier's folder, or in a store of any kind. */
export function openOptions(
  place: string | Store,
  spider: string,
  more: Partial<OpenOptions> = {},
): OpenOptions {
  return {
    store: typeof place === 'string' ? storeOf(place) : place,
    keys: {
      requests: `${spider}:requests`,
      dupefilter: `${spider}:dupefilter`,
      startUrls: [`${spider}:start_urls`],
      items: `${spider}:items`,
      stats: `${spider}:stats`,
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape: defaultShape,
    allowEviction: false,
    connectTimeoutMs: 10_000,
    ...more,
  };
}

function storeOf(place: string): Store {
  return place.startsWith('redis:')
    ? { engine: 'redis', address: { kind: 'standalone', url: place, options: {} } }
    : { engine: 'embedded', dir: place };
}
