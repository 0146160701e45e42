/** The spider of tests that crawl a whole site: it follows every link, from the URLs of the argument `start`, and yields every page. */

/** @param fields further fields of its items, such as `text: 'x'.repeat(9)` */
export const walk = (fields = '') => `
import { Spider, type Response } from 'crawlnode';
export default class extends Spider {
  name = 'walk';
  startUrls = this.args.start ? this.args.start.split(' ') : [];
  *parse(response: Response) {
    yield { url: response.url, ${fields} };
    yield* response.followAll(response.links(), this.parse);
  }
}
`;
