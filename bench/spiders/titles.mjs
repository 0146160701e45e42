/** What the bare loop does, as a spider: the title of every HTML page, and all of its links. */
import { Spider } from 'crawlnode';

export default class Titles extends Spider {
  name = 'titles';
  startUrls = [this.args.start];

  *parse(response) {
    if (!String(response.headers['content-type']).includes('html')) return;
    yield { title: response.css('title::text').get() };
    const { within } = this.args;
    yield* response.followAll(response.links().filter((link) => link.startsWith(within)));
  }
}
