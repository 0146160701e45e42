/** Arguments of the command line, and settings of one spider: crawlnode crawl arguments -a category=wall */
import { type Response, Spider } from 'crawlnode';

export default class Arguments extends Spider {
  name = 'arguments';
  category = this.args.category ?? 'desk';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/category/${this.category}`];
  customSettings = { CONCURRENT_REQUESTS: 4, USER_AGENT: 'examples (+https://example.com/)' };

  *parse(response: Response) {
    this.log.info(`products of the category ${this.category}`);
    for (const product of response.css('a')) {
      yield {
        category: this.category,
        name: product.css('::text').get(),
        userAgent: this.settings.USER_AGENT,
      };
    }
  }
}
