/** What a feed or sitemap spider leaves out is counted with the crawl. */
import { expect, it } from 'vitest';
import {
  type CrawlOptions,
  CSVFeedSpider,
  type CSVRow,
  crawl,
  type Response,
  SitemapSpider,
} from '../../../src/index.js';
import { startSite } from '../../helpers/sites/site.js';
import { tempDir } from '../../helpers/temp-dir.js';

class Stock extends CSVFeedSpider {
  override name = 'stock';
  override startUrls = [`${this.args.site}/stock.csv`];
  override parseRow(_response: Response, row: CSVRow) {
    return row;
  }
}

class Shop extends SitemapSpider {
  override name = 'shop';
  override sitemapUrls = [`${this.args.site}/sitemap.xml`];
  override parse(response: Response) {
    return { url: response.url };
  }
}

const bodies: Readonly<Record<string, string>> = {
  '/stock.csv': 'id,pieces\n1,2\n3\n4,5\n6,"never closed',
  '/sitemap.xml': '<urlset><url><loc>/a</loc></url><url><loc>/b',
};

it('counts rows left out, and damage', async () => {
  const site = await startSite({
    handler: ({ url }, response) => {
      response.end(bodies[url!] ?? 'a page');
      return true;
    },
  });
  const how: CrawlOptions = {
    cwd: tempDir('feed-counters').dir,
    config: false,
    args: { site: site.origin },
    settings: { ROBOTSTXT_OBEY: false, START_TIMEOUT: 0 },
  };
  const stock = await crawl(Stock, how);
  expect(stock).toMatchObject({ items: 2, failed: 0 });
  expect(stock.stats.customStats).toEqual({ 'feed/damaged': 1, 'feed/rows_left_out': 1 });
  const shop = await crawl(Shop, how);
  expect(shop).toMatchObject({ items: 1, failed: 0 });
  expect(shop.stats.customStats).toEqual({ 'sitemap/damaged': 1 });
});
