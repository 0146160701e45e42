/** The demo's spider: every page is a book, and every link is followed. */
import { number, type Response, Spider } from 'crawlnode';

export default class Demo extends Spider {
  name = 'demo';
  /** The demo says where its site is: `-a start=URL`. */
  startUrls = [this.args.start ?? 'http://127.0.0.1/'];

  *parse(response: Response) {
    yield {
      url: response.url,
      title: response.css('h1::text').get(),
      price: number(response.css('span.price::text').get()),
    };
    yield* response.followAll(response.links(), this.parse);
  }
}
