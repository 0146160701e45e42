/** Requests that the crawl does not follow cost nothing else, and the summary counts them with an example. */
import { expect, it } from 'vitest';
import { openFrontier } from '../../../src/frontier/choose-engine.js';
import type { Response } from '../../../src/http/message/response.js';
import { Spider } from '../../../src/spider/spider.js';
import { crawl, freshStore, nodeOptions } from '../../helpers/node.js';
import { startSite } from '../../helpers/sites/site.js';

it('links that are offsite, too deep, too long or not http are dropped, counted and named', async () => {
  const links = [
    'mailto:me@example.org',
    'http://[bad',
    'http://other.example/1',
    'http://other.example/2',
    `/${'x'.repeat(3_000)}`,
    '/page/1.html',
  ];
  const site = await startSite({ pages: 2 });
  class Links extends Spider {
    override name = 'links';
    override startUrls = [site.url];
    override allowedDomains = [site.host];
    override *parse(response: Response) {
      for (const link of links) yield response.follow(link, this.parse);
      yield response.follow('/page/9.html', this.parse, { meta: { page: 9 } });
      yield { url: response.url };
    }
  }
  const store = await freshStore();
  const options = { links: { ...nodeOptions().links, depthLimit: 1 }, concurrency: 1 };
  const { deadEnds, items, failed } = await crawl(store, Links, { options });
  expect({ items, failed }).toEqual({ items: 2, failed: 0 });
  expect(deadEnds).toEqual(
    expect.arrayContaining([
      { what: 'not an http or https URL', unit: 'request', count: 4, example: 'mailto:me@example.org' },
      {
        what: 'offsite (not in allowedDomains)',
        unit: 'request',
        count: 2,
        example: 'http://other.example/1',
      },
      {
        what: 'deeper than DEPTH_LIMIT',
        unit: 'request',
        count: expect.any(Number),
        example: expect.any(String),
      },
      {
        what: 'longer than URLLENGTH_LIMIT',
        unit: 'request',
        count: 1,
        example: expect.stringContaining('xxx'),
      },
      { what: 'status 404', unit: 'page', count: 1, example: `${site.origin}/page/9.html` },
    ]),
  );
  const frontier = await openFrontier(store);
  const { counters } = await frontier.snapshot();
  await frontier.close();
  expect(counters).toMatchObject({
    'request_unfetchable/request_ignored_count': 4,
    'offsite/filtered': 2,
    'urllength/request_ignored_count': 1,
  });
});
