/** Each example crawls its own small site and gives the items that it is there for. */
import { DatabaseSync } from '@photostructure/sqlite';
import { type CrawlOptions, crawl, type JsonObject, seed } from 'crawlnode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startExampleSite } from '../../examples/site.mjs';
import type { SpiderClass } from '../../src/spider/spider.js';
import { tempDir } from '../helpers/temp-dir.js';

let site: Awaited<ReturnType<typeof startExampleSite>>;
beforeAll(async () => {
  site = await startExampleSite();
});
afterAll(() => site.close());

/** The items of an example in the order of their texts, since pages come in any order. */
async function itemsOf(name: string, options: CrawlOptions = {}): Promise<JsonObject[]> {
  const { default: Example } = await import(`../../examples/spiders/${name}.ts`);
  const items: JsonObject[] = [];
  const result = await crawl(Example as SpiderClass, {
    cwd: tempDir('example').dir,
    config: false,
    settings: { START_TIMEOUT: 0 },
    onItem: (item) => void items.push(item),
    ...options,
    args: { site: site.origin, ...options.args },
  });
  expect(result.reason).toBe('finished');
  return sorted(items);
}

function sorted(items: readonly object[]) {
  return (items as JsonObject[]).toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b), 'en'));
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
const lamp = (id: number) => `Lamp ${id}`;
const url = (path: string) => site.origin + path;
const authorOf = (n: number) => ['Ada Byron', 'Lu Xun', 'Mary Shelley'][(n - 1) % 3]!;
const textOf = (n: number) => `“Thought number ${n} & more”`;

describe('the example', () => {
  it('quotes follows the link to the next page', async () => {
    const tags = (n: number) => (n % 2 === 1 ? ['life', 'work'] : ['love']);
    const quotes = numbers(1, 9).map((n) => ({ text: textOf(n), author: authorOf(n), tags: tags(n) }));
    expect(await itemsOf('quotes')).toEqual(sorted(quotes));
  });

  it('pagination reads all numbered pages', async () => {
    const products = numbers(1, 12).map((id) => ({ name: lamp(id), url: url(`/product/${id}`) }));
    expect(await itemsOf('pagination')).toEqual(sorted(products));
  });

  it('details joins what the list knows and what the page knows', async () => {
    expect(await itemsOf('details')).toEqual([
      { category: 'desk', position: 0, name: 'Lamp 1', price: 10 },
      { category: 'floor', position: 1, name: 'Lamp 2', price: 11 },
      { category: 'wall', position: 2, name: 'Lamp 3', price: 12 },
    ]);
  });

  it('login reads a page behind a login, and fails with a wrong password', async () => {
    expect(await itemsOf('login')).toEqual([{ secret: '42' }]);
    expect(await itemsOf('login', { args: { password: 'wrong' } })).toEqual([]);
  });

  it('json-api asks page by page', async () => {
    const found = [1, 4, 7, 10].map((id) => ({ id, name: lamp(id), price: 9 + id }));
    expect(await itemsOf('json-api')).toEqual(sorted(found));
  });

  it('infinite-scroll reads the API behind the page', async () => {
    const quotes = numbers(1, 9).map((n) => ({ text: textOf(n), author: authorOf(n) }));
    expect(await itemsOf('infinite-scroll')).toEqual(sorted(quotes));
  });

  it('sitemap reads the products that changed', async () => {
    const changed = numbers(5, 12).map((id) => ({ url: url(`/product/${id}`), name: lamp(id) }));
    expect(await itemsOf('sitemap')).toEqual(sorted(changed));
  });

  it('rules finds the products behind the categories', async () => {
    const products = numbers(1, 12).map((id) => ({ url: url(`/product/${id}`), name: lamp(id) }));
    expect(await itemsOf('rules')).toEqual(sorted(products));
  });

  it('statuses tells a page, a 404 and a failure apart', async () => {
    expect(await itemsOf('statuses')).toEqual(
      sorted([
        { url: url('/product/1'), status: 200, title: 'Lamp 1' },
        { url: url('/gone'), status: 404, title: 'Gone' },
        { url: url('/broken'), status: 500, failed: true },
      ]),
    );
  });

  it('arguments takes an argument and its own settings', async () => {
    const userAgent = 'examples (+https://example.com/)';
    const inCategory = (ids: number[], category: string) =>
      sorted(ids.map((id) => ({ category, name: lamp(id), userAgent })));
    expect(await itemsOf('arguments')).toEqual(inCategory([1, 4, 7, 10], 'desk'));
    expect(await itemsOf('arguments', { args: { category: 'wall' } })).toEqual(
      inCategory([3, 6, 9, 12], 'wall'),
    );
  });

  it('incremental fetches only what is new', async () => {
    const cwd = tempDir('incremental').dir;
    const news = (from: number, to: number) =>
      numbers(from, to).map((n) => ({ url: url(`/news/${n}`), title: `News ${n}` }));
    expect(await itemsOf('incremental', { cwd })).toEqual(sorted(news(1, 3)));
    site.addNews(2);
    expect(await itemsOf('incremental', { cwd })).toEqual(sorted(news(4, 5)));
  });

  it('scrapy-redis-seeds takes extra keys of a seed as form fields', async () => {
    const name = 'scrapy-redis-seeds';
    const { default: Example } = await import(`../../examples/spiders/${name}.ts`);
    const cwd = tempDir(name).dir;
    async function* seeds() {
      yield JSON.stringify({ url: url('/products?old=1'), page: '2', meta: { from: 'queue' } });
      yield JSON.stringify({ url: url('/login'), method: 'post', csrf_token: 'x', password: 'y' });
      yield url('/product/1');
    }
    const given = { cwd, config: false, args: { site: site.origin } } as const;
    expect(await seed(Example, seeds(), given)).toMatchObject({ accepted: 3, bad: 0 });
    expect(await itemsOf(name, { cwd })).toEqual(
      sorted([
        { url: url('/products?page=2'), meta: { from: 'queue' }, title: null },
        { url: url('/login'), meta: { redirect_urls: [url('/login')] }, title: null },
        { url: url('/product/1'), meta: {}, title: 'Lamp 1' },
      ]),
    );
  });

  it('database requests what a table names', async () => {
    const database = `${tempDir('database').dir}/products.sqlite`;
    const tables = new DatabaseSync(database);
    tables.exec('CREATE TABLE product (id INTEGER); INSERT INTO product VALUES (2), (11)');
    tables.close();
    expect(await itemsOf('database', { args: { database } })).toEqual(
      sorted([2, 11].map((id) => ({ id, name: lamp(id) }))),
    );
  });
});
