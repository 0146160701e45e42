/**
 * Every HTML page of a site and its title, by following whatever links stay on the host:
 *
 *     crawlnode crawl docs -a start=https://docs.python.org/3/ -o titles.jsonl --exit-when-done
 *
 * `-a within=https://docs.python.org/3/library/` keeps it inside a part of the site. Without `start` it waits for
 * seeds: `crawlnode seed docs https://docs.python.org/3/`.
 */
import { type Response, Spider } from 'crawlnode';

export default class Docs extends Spider {
  name = 'docs';
  startUrls = this.args.start ? [this.args.start] : [];

  *parse(response: Response) {
    const type = String(response.headers['content-type']);
    if (!type.includes('html')) return; // an image, an archive, a text

    yield { url: response.url, title: response.css('title::text').get() };

    const site = this.args.within ?? new URL('/', response.url).href;
    const links = response.links().filter((url) => url.startsWith(site));
    yield* response.followAll(links, this.parse);
  }
}
