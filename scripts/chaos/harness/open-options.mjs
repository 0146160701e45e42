/** How to open the frontier of a crawl, everything at its default: plain data, for this process or another. */

/** @param place the URL of a Redis, or the folder of an embedded frontier; `shape` is what differs from the default. */
export function openOptions(place, spider, shape = {}) {
  const key = (word) => `${spider}:${word}`;
  return {
    store: place.startsWith('redis:')
      ? { engine: 'redis', address: { kind: 'standalone', url: place, options: {} } }
      : { engine: 'embedded', dir: place },
    keys: {
      requests: key('requests'),
      dupefilter: key('dupefilter'),
      startUrls: [key('start_urls')],
      items: key('items'),
      stats: key('stats'),
    },
    startUrlsType: 'list',
    seedsFiltered: false,
    shape: { ...defaultShape, ...shape },
    allowEviction: false,
    connectTimeoutMs: 10_000,
  };
}

/** What the nodes of a crawl agree about. */
export const defaultShape = {
  queueClass: 'PriorityQueue',
  dupefilter: { class: 'RFPDupeFilter' },
  fingerprinter: 'scrapy-redis',
  domainKey: 'host',
  persist: true,
};
