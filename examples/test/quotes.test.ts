/** A test of a spider without a network and without a store: a saved page goes in, items and requests come out. */
import { Response, runSpider } from 'crawlnode';
import { expect, it } from 'vitest';
import Quotes from '../spiders/quotes.js';

it('takes the quotes of a page, and follows the link to the next one', async () => {
  const url = 'https://quotes.example/';
  const page = Response.fromFile(new URL('quotes.html', import.meta.url).pathname, { url });
  const { items, requests } = await runSpider(Quotes, page);
  expect(items).toEqual([{ text: '“To be.”', author: 'Hamlet', tags: ['life'] }]);
  expect(requests.map((request) => request.url)).toEqual(['https://quotes.example/page/2/']);
});
