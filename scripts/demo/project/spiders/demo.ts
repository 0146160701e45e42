/** The demo's spider: every page is a book, and every link is followed. */
import { type Response, Spider } from 'crawlnode';

export default class Demo extends Spider {
  name = 'demo';

  *parse(response: Response) {
    yield {
      url: response.url,
      title: response.css('h1::text').get(),
      price: Number(response.css('span.price::text').get()),
    };
    yield* response.followAll(response.links(), this.parse);
  }
}
