/** A shop followed by rules: categories lead on, the pages of products are scraped. */
import { CrawlSpider, type Response } from 'crawlnode';

export default class Rules extends CrawlSpider {
  name = 'rules';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/shop`];
  rules = [{ allow: /\/category\// }, { allow: /\/product\//, callback: this.parseProduct }];

  *parseProduct(response: Response) {
    yield { url: response.url, name: response.css('h1::text').get() };
  }
}
