/** XMLFeedSpider and CSVFeedSpider: one call for each record, in parts that fit a commit, up to a damaged place. */
import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/http/markup/selector.js';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';
import type { SpiderLogger } from '../../../src/log.js';
import { CSVFeedSpider, type CSVRow } from '../../../src/spider/kinds/csv-feed-spider.js';
import { XMLFeedSpider, type XMLIterator } from '../../../src/spider/kinds/xml-feed-spider.js';
import { runCallback } from '../../../src/spider/run-callback.js';
import type { Spider } from '../../../src/spider/spider.js';

const url = 'https://a.example/feed';

function feed(body: string, cbKwargs = {}, type = 'text/plain'): Response {
  const request = new Request(url, { cbKwargs, priority: 2, meta: { kept: 1 } });
  return new Response({
    url,
    status: 200,
    headers: { 'content-type': type },
    body: Buffer.from(body),
    request,
  });
}

async function resultOf(spider: Spider, response: Response) {
  const warnings: unknown[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push([fields, message]) };
  Object.assign(spider, { log: log as unknown as SpiderLogger });
  const { items, requests } = await runCallback(spider, 'parse', response);
  return { items, requests: requests.map(({ request }) => request), warnings };
}

class News extends XMLFeedSpider {
  override name = 'news';

  override *parseNode(response: Response, node: Selector) {
    yield { title: node.css('title::text').get() };
    const link = node.css('link::text').get();
    if (link !== null) yield response.follow(link, this.parse);
  }
}

const rss = `<rss><channel><item><title>a</title><link>/1</link></item><item><title>b</title></item></channel></rss>`;

describe('an XMLFeedSpider', () => {
  it('calls parseNode with each element, whatever the content type', async () => {
    for (const type of ['text/plain', 'application/rss+xml', 'text/html']) {
      const { items, requests, warnings } = await resultOf(new News(), feed(rss, {}, type));
      expect(items).toEqual([{ title: 'a' }, { title: 'b' }]);
      expect(requests.map((request) => request.url)).toEqual(['https://a.example/1']);
      expect(warnings).toEqual([]);
    }
  });

  it.each<[XMLIterator, string, (string | null)[]]>([
    ['iternodes', 'entry', ['x']],
    ['xml', 'entry', ['x', 'y']],
    ['html', 'Entry', ['x', 'y']],
  ])('with the iterator %s', async (iterator, itertag, titles) => {
    class Atom extends News {
      override iterator = iterator;
      override itertag = itertag;
    }
    const atom = '<feed><entry><title>x</title><entry><title>y</title></entry></entry></feed>';
    const { items } = await resultOf(new Atom(), feed(atom));
    expect(items).toEqual(titles.map((title) => ({ title })));
  });

  it.each([
    ['adaptResponse', 'adaptResponse() returned no Response'],
    ['processResults', 'processResults() returned nothing: return the results to keep, or an empty list'],
  ])('says that %s returned nothing', async (method, message) => {
    const spider = Object.assign(new News(), { [method]: () => undefined });
    await expect(runCallback(spider, null, feed(rss))).rejects.toThrow(message);
  });

  it('lets adaptResponse repair the body, and processResults choose', async () => {
    class Repaired extends News {
      override adaptResponse({ status, headers, request, text }: Response) {
        const body = Buffer.from(text.replace('junk', ''));
        return new Response({ url, status, headers, body, request });
      }
      override *processResults(_response: Response, results: readonly unknown[]) {
        for (const result of results)
          if (!(result instanceof Request)) yield { ...(result as object), seen: 1 };
      }
    }
    const { items, requests } = await resultOf(new Repaired(), feed(`junk${rss}`));
    expect(items).toEqual([
      { title: 'a', seen: 1 },
      { title: 'b', seen: 1 },
    ]);
    expect(requests).toEqual([]);
  });

  it('takes the elements before a damaged place, and says where there is none', async () => {
    const { items, warnings } = await resultOf(new News(), feed(rss.slice(0, -40)));
    expect(items).toEqual([{ title: 'a' }]);
    expect(warnings).toMatchObject([[{ url, records: 1 }, expect.stringContaining('damaged')]]);
    expect((await resultOf(new News(), feed('<html></html>'))).warnings).toEqual([
      [{ url }, 'a feed has no record: there is no element <item> (itertag)'],
    ]);
    await expect(resultOf(new News(), feed('<rss><item>'))).rejects.toMatchObject({ code: 'bad_feed' });
  });

  it('requests a long feed again for its next elements, and ends', async () => {
    const spider = new News();
    Object.assign(spider, { settings: { MAX_ITEMS_PER_PAGE: 4 } });
    const long = `<rss>${[1, 2, 3, 4, 5].map((n) => `<item><title>${n}</title></item>`).join('')}</rss>`;
    const titles: unknown[] = [];
    let response: Response | null = feed(long, { own: 7 });
    let commits = 0;
    while (response !== null) {
      const { items, requests } = await resultOf(spider, response);
      titles.push(...items.map(({ title }) => title));
      commits += 1;
      const [next] = requests;
      if (next !== undefined)
        expect(next).toMatchObject({ dontFilter: true, priority: 2, meta: { kept: 1 } });
      response = next === undefined ? null : feed(long, next.cbKwargs);
      if (response !== null) expect(response.cbKwargs.own).toBe(7);
    }
    expect(titles).toEqual(['1', '2', '3', '4', '5']);
    expect(commits).toBe(3);
  });

  it('ends a part by the bytes of its items, and the feed after 200 parts', async () => {
    class Large extends News {
      override *parseNode() {
        yield { title: 'x'.repeat(1024 * 1024) };
      }
    }
    const { items, requests } = await resultOf(new Large(), feed(`<r>${'<item/>'.repeat(10)}</r>`));
    expect([items.length, requests[0]?.cbKwargs]).toEqual([4, { firstRecord: 4, part: 2 }]);
    const spider = new News();
    Object.assign(spider, { settings: { MAX_ITEMS_PER_PAGE: 1 } });
    const last = await resultOf(spider, feed(rss, { firstRecord: 0, part: 200 }));
    expect([last.items.length, last.requests.length]).toEqual([1, 1]);
    expect(last.warnings).toEqual([[{ url, records: 1 }, 'the feed is too long; the rest is not read']]);
  });

  it('fails the page where parseNode throws', async () => {
    class Broken extends News {
      override parseNode(): never {
        throw new Error('no title');
      }
    }
    await expect(resultOf(new Broken(), feed(rss))).rejects.toMatchObject({ code: 'callback_failed' });
  });
});

class Stock extends CSVFeedSpider {
  override name = 'stock';

  override parseRow(_response: Response, row: CSVRow) {
    return row;
  }
}

describe('a CSVFeedSpider', () => {
  it('calls parseRow with the fields by the names of the first row', async () => {
    const { items } = await resultOf(new Stock(), feed('id,name\n1,"a, b"\n2,c\n'));
    expect(items).toEqual([
      { id: '1', name: 'a, b' },
      { id: '2', name: 'c' },
    ]);
  });

  it('or by headers, with another delimiter and quote', async () => {
    class Own extends Stock {
      override delimiter = ';';
      override quotechar = "'";
      override headers = ['id', 'name'];
    }
    const { items } = await resultOf(new Own(), feed("1;'a;b'\n2;c"));
    expect(items).toEqual([
      { id: '1', name: 'a;b' },
      { id: '2', name: 'c' },
    ]);
  });

  it('leaves rows of another length out, and names the first of a page', async () => {
    const { items, warnings } = await resultOf(new Stock(), feed('id,name\n1\n2,b\n3,c,d\n'));
    expect(items).toEqual([{ id: '2', name: 'b' }]);
    expect(warnings).toEqual([[{ url, row: 2 }, 'a row of a CSV file has too few or too many fields']]);
    const next = await resultOf(new Stock(), feed('id,name\n1\n2,b\n3,c,d\n', { firstRecord: 1 }));
    expect(next.warnings).toMatchObject([[{ row: 4 }, expect.any(String)]]);
  });

  it('fails on an HTML page in place of the file', async () => {
    for (const page of ['<!DOCTYPE html>\n<p>log in</p>', '\n<html lang="en"><body>a,b</body></html>'])
      await expect(resultOf(new Stock(), feed(page))).rejects.toMatchObject({
        code: 'bad_feed',
        message: expect.stringContaining('it is an HTML page, not a CSV file'),
      });
  });

  it('takes the rows before a damaged place, and no prototype from a header', async () => {
    const { items, warnings } = await resultOf(new Stock(), feed('id,__proto__\n1,2\n3,"4'));
    expect(items).toEqual([{ id: '1' }]);
    expect(warnings).toMatchObject([[{ records: 1 }, expect.stringContaining('damaged')]]);
  });

  it('reads a long file in parts', async () => {
    const lines = Array.from({ length: 12_000 }, (_, n) => `${n}`).join('\n');
    const first = await resultOf(new Stock(), feed(`n\n${lines}`));
    expect(first.items.length).toBe(5_000);
    const third = await resultOf(new Stock(), feed(`n\n${lines}`, { firstRecord: 10_000 }));
    expect([third.items.length, third.items[0], third.requests.length]).toEqual([2_000, { n: '10000' }, 0]);
  });
});
