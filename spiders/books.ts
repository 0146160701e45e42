/**
 * A shop, followed by rules: lists of books only lead on, the pages of books are scraped.
 *
 *     crawlnode crawl books -o books.csv --max-pages 100 --exit-when-done
 */
import { CrawlSpider, number, type Response } from 'crawlnode';

export default class Books extends CrawlSpider {
  name = 'books';
  startUrls = ['https://books.toscrape.com/'];
  customSettings = { DOWNLOAD_DELAY: 0.5 };

  // The first rule that matches a link takes it. One with a callback follows no further, unless with `follow: true`.
  rules = [
    { allow: /books\.toscrape\.com\/catalogue\/(category\/|page-)/ },
    { allow: /books\.toscrape\.com\/catalogue\/[^/]+\/index\.html$/, callback: this.parseBook },
  ];

  parseBook(response: Response) {
    return {
      url: response.url,
      title: response.css('h1::text').get(),
      price: number(response.css('p.price_color::text').get()),
      available: response.css('p.instock').get() !== null,
    };
  }
}
