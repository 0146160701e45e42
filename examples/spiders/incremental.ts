/** News that grow: each run reads the list again, and fetches only the articles that it has not seen. */
import { type Response, Spider } from 'crawlnode';

export default class Incremental extends Spider {
  name = 'incremental';
  startUrls = [`${this.args.site ?? 'http://127.0.0.1:8000'}/news/`];
  refresh = [{ allow: /\/news\/$/ }];

  *parse(response: Response) {
    yield* response.followAll('a', this.parseArticle);
  }

  *parseArticle(response: Response) {
    yield { url: response.url, title: response.css('h1::text').get() };
  }
}
