/** The code of a new project, as `crawlnode init` writes it: a spider, the schema of its items, a pipeline and a test. */

export const spider = `/**
 * Scrapes the quotes of quotes.toscrape.com:
 *
 *     crawlnode crawl quotes -o quotes.jsonl --exit-when-done
 */
import { type Request, type Response, Spider } from 'crawlnode';
import { type Quote, quoteSchema } from '../items.js';

export default class Quotes extends Spider {
  // The name of the spider in commands. It must be unique in the project.
  name = 'quotes';

  // The first requests. "-a start=URL" on the command line sets this.args.start.
  startUrls = [this.args.start ?? 'https://quotes.toscrape.com/'];

  // Every item is checked. One that does not fit fails its page, and the log names the field.
  item = quoteSchema;

  // Called with every downloaded page. It yields items, and requests for other pages.
  *parse(response: Response): Generator<Quote | Request> {
    for (const quote of response.css('div.quote')) {
      yield {
        url: response.url,
        text: quote.css('span.text::text').get(''),
        author: quote.css('small.author::text').get(''),
        tags: quote.css('a.tag::text').getAll(),
      };
    }

    // A URL is fetched only once, even if several pages link to it.
    yield* response.followAll('li.next a', this.parse);
  }
}
`;

export const items = `/** What the spiders of this project scrape. */
import { z } from 'zod';

export const quoteSchema = z.object({
  url: z.url(),
  text: z.string().min(1),
  author: z.string().min(1),
  tags: z.array(z.string()),
});

export type Quote = z.infer<typeof quoteSchema>;
`;

export const pipeline = `/** Called with every item of every spider before it is stored: ITEM_PIPELINES in crawlnode.yaml names this module. */
import { DropItem, type ItemPipeline, type PipelineInput } from 'crawlnode';

export default {
  // Fields differ between spiders, so this changes whatever texts there are.
  processItem({ item }: PipelineInput) {
    const fields = Object.entries(item).map(([name, value]) => [name, isText(value) ? tidy(value) : value]);
    if (fields.every(([, value]) => value === '')) throw new DropItem('an item without content');
    return Object.fromEntries(fields);
  },
} satisfies ItemPipeline;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Each run of white space becomes one space. */
const tidy = (text: string) => text.replace(/\\s+/g, ' ').trim();
`;

export const test = `/** Runs the spider and its pipeline on a saved page, without the network: npm test */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Response, runSpider } from 'crawlnode';
import clean from '../pipelines/clean.js';
import Quotes from '../spiders/quotes.js';

const page = Response.fromFile('test/quotes.html', { url: 'https://quotes.toscrape.com/' });

test('a page gives its quotes, and the request of the next page', async () => {
  const { items, requests } = await runSpider(Quotes, page);
  assert.deepEqual(items, [
    { url: page.url, text: '“Less is more.”', author: 'A. Builder', tags: ['short', 'form'] },
    { url: page.url, text: '“Measure twice.”', author: 'B. Carpenter', tags: [] },
  ]);
  assert.deepEqual(
    requests.map(({ url, callback }) => ({ url, callback })),
    [{ url: 'https://quotes.toscrape.com/page/2/', callback: null }], // null is parse
  );
});

test('the pipeline tidies the white space of texts', () => {
  const item = { text: ' Less is\\n  more. ', tags: ['short'] };
  const input = { item, nodeId: 'test', spider: 'quotes', job: null };
  assert.deepEqual(clean.processItem(input), { text: 'Less is more.', tags: ['short'] });
});
`;

export const page = `<!doctype html>
<title>Quotes</title>
<div class="quote">
  <span class="text">“Less is more.”</span>
  <small class="author">A. Builder</small>
  <a class="tag">short</a> <a class="tag">form</a>
</div>
<div class="quote">
  <span class="text">“Measure twice.”</span>
  <small class="author">B. Carpenter</small>
</div>
<ul class="pager"><li class="next"><a href="/page/2/">Next</a></li></ul>
`;
