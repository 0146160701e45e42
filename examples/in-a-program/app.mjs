// Crawl inside a program: node app.mjs https://quotes.toscrape.com/ (docs/guide/install.md shows how to install crawlnode in a project)
import { crawl, Spider } from 'crawlnode';

class Quotes extends Spider {
  name = 'quotes';
  startUrls = [this.args.url];

  *parse(response) {
    for (const quote of response.css('div.quote')) {
      yield { text: quote.css('span.text::text').get(), author: quote.css('small.author::text').get() };
    }
    yield* response.followAll('li.next a', this.parse);
  }
}

const stop = new AbortController();
process.once('SIGINT', () => stop.abort()); // finish the pages in progress, then end

const authors = new Map();
const { reason, pages, items } = await crawl(Quotes, {
  args: { url: process.argv[2] },
  settings: { DOWNLOAD_DELAY: Number(process.env.DELAY ?? 0.5), JOBDIR: '.quotes' },
  signal: stop.signal,
  onItem: ({ author }) => authors.set(author, (authors.get(author) ?? 0) + 1),
});

console.log(JSON.stringify({ reason, pages, items, authors: Object.fromEntries(authors) }));
