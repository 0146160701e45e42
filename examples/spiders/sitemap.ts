/** The products that a sitemap names, found by robots.txt, and of these the ones that changed since 2026. */
import { type Response, type SitemapEntry, SitemapSpider } from 'crawlnode';

export default class Sitemap extends SitemapSpider {
  name = 'sitemap';
  sitemapUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/robots.txt`];
  sitemapFollow = [/sitemap-products/];
  sitemapRules = [{ allow: /\/product\//, callback: this.parseProduct }];

  *sitemapFilter(entries: Iterable<SitemapEntry>) {
    for (const entry of entries) if ((entry.lastmod ?? '') >= '2026') yield entry;
  }

  *parseProduct(response: Response) {
    yield { url: response.url, name: response.css('h1::text').get() };
  }
}
