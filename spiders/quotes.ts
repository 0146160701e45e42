/** Ten pages of quotes, one after the other: `crawlnode crawl quotes -o quotes.jsonl --exit-when-done`. */
import { type Response, Spider } from 'crawlnode';

export default class Quotes extends Spider {
  name = 'quotes';
  startUrls = ['https://quotes.toscrape.com/'];
  customSettings = { DOWNLOAD_DELAY: 0.5 };

  async *parse(response: Response) {
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
