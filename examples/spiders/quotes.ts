/** Quotes of all pages, by following the link to the next page. */
import { type Response, Spider } from 'crawlnode';

export default class Quotes extends Spider {
  name = 'quotes';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/`];

  *parse(response: Response) {
    for (const quote of response.css('div.quote')) {
      yield {
        text: quote.css('span.text::text').get(),
        author: quote.css('small.author::text').get(),
        tags: quote.css('a.tag::text').getAll(),
      };
    }
    yield* response.followAll('li.next a', this.parse);
  }
}
