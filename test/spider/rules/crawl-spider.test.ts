/** Rules of a CrawlSpider: which links are followed, and who gets the pages. */
import { describe, expect, it } from 'vitest';
import { type CallbackResults, Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';
import { CrawlSpider, type Rule } from '../../../src/spider/rules/crawl-spider.js';
import { LinkExtractor } from '../../../src/spider/rules/link-extractor.js';
import { runCallback } from '../../../src/spider/run-callback.js';

function pageWith(hrefs: readonly string[], meta = {}, url = 'https://example.org/'): Response {
  const body = Buffer.from(
    `<html><body>${hrefs.map((href) => `<p><a href="${href}">x</a></p>`).join('')}
     <nav><a href="/nav/1">n</a></nav></body></html>`,
  );
  const request = new Request(url, { meta });
  return new Response({ url, status: 200, headers: { 'content-type': 'text/html' }, body, request });
}

class Shop extends CrawlSpider {
  override name = 'shop';
  override rules: readonly Rule[] = [
    { allow: '/list/', deny: /private/ },
    { allow: [/\/book\//, /\/list\//], callback: this.parseBook },
    { allow: /\/author\//g, callback: 'parseAuthor', follow: true },
  ];

  override parseStartUrl(response: Response): CallbackResults {
    return { start: response.url };
  }

  *parseBook(response: Response) {
    yield { book: response.url };
  }

  async parseAuthor(response: Response) {
    return { author: response.url };
  }
}

/** What a page gives: URL → the rule that took it. */
async function rulesOf(spider: CrawlSpider, response: Response, method: string | null = null) {
  const { requests } = await runCallback(spider, method, response);
  return requests.map(({ request, callback }) => [
    new URL(request.url).pathname,
    request.meta.rule,
    callback,
  ]);
}

describe('a CrawlSpider', () => {
  it('gives the callback of a rule the arguments of the rule and of the request', async () => {
    class Given extends CrawlSpider {
      override name = 'given';
      override rules: readonly Rule[] = [
        { allow: 'book', callback: this.parseBook, cbKwargs: { kind: 'book', from: 'rule' } },
      ];

      parseBook(_response: Response, given: object) {
        return { given };
      }
    }
    const page = pageWith([], { rule: 0 });
    const request = page.request.replace({ cbKwargs: { from: 'request' } });
    const { url, status, headers, body } = page;
    const response = new Response({ url, status, headers, body, request });
    const { items } = await runCallback(new Given(), 'parseRule', response);
    expect(items).toEqual([{ given: { kind: 'book', from: 'request' } }]);
  });

  it('takes links by a LinkExtractor, and lets processLinks and processRequest choose', async () => {
    class Chosen extends Shop {
      override rules: readonly Rule[] = [
        {
          linkExtractor: new LinkExtractor({ restrictCss: 'p', allow: /book/ }),
          callback: this.parseBook,
          errback: 'parseLost',
          processLinks: (links) => links.filter(({ text, url }) => text === 'x' && !url.endsWith('/2')),
          processRequest: (request) => (request.url.endsWith('/3') ? null : request.replace({ priority: 7 })),
        },
        {
          allow: /nav/,
          processLinks: (links) => links.map(({ text }) => ({ url: `/nav/${text}`, text, nofollow: false })),
        },
      ];

      parseLost() {}
    }
    const page = pageWith(['/book/1', '/book/2', '/book/3']);
    const { requests } = await runCallback(new Chosen(), null, page);
    expect(requests.map(({ request, errback }) => [request.url, request.priority, errback])).toEqual([
      ['https://example.org/book/1', 7, 'parseLost'],
      ['https://example.org/nav/n', 0, null],
    ]);
  });

  it('follows each link by the first rule that matches it, once a page', async () => {
    const links = [
      '/list/1',
      '/book/1',
      '/list/private',
      '/book/1#top',
      '/other',
      '/author/1',
      '/author/2',
      '/list/1',
    ];
    expect(await rulesOf(new Shop(), pageWith(links))).toEqual([
      ['/list/1', 0, 'parseRule'],
      ['/book/1', 1, 'parseRule'],
      ['/list/private', 1, 'parseRule'],
      ['/author/1', 2, 'parseRule'],
      ['/author/2', 2, 'parseRule'],
    ]);
  });

  it('gives start pages to parseStartUrl', async () => {
    const { items } = await runCallback(new Shop(), null, pageWith([]));
    expect(items).toEqual([{ start: 'https://example.org/' }]);
  });

  it('keeps the rule of a request whose meta processRequest replaced, and fails a page without one', async () => {
    class Marked extends Shop {
      override rules: readonly Rule[] = [
        { allow: /book/, callback: this.parseBook, processRequest: (r) => r.replace({ meta: { mark: 1 } }) },
      ];
    }
    const { requests } = await runCallback(new Marked(), null, pageWith(['/book/1']));
    expect(requests.map(({ request }) => request.meta)).toEqual([{ mark: 1, rule: 0 }]);
    await expect(runCallback(new Shop(), 'parseRule', pageWith([], { mark: 1 }))).rejects.toThrow(
      'the request has lost meta.rule',
    );
  });

  it('says that processLinks returned no list', async () => {
    class Silent extends Shop {
      override rules: readonly Rule[] = [{ allow: /book/, processLinks: () => undefined as never }];
    }
    await expect(runCallback(new Silent(), null, pageWith(['/book/1']))).rejects.toThrow(
      'processLinks of rules[0] returned no list of links',
    );
  });

  it('only follows on the pages of a rule without a callback', async () => {
    const response = pageWith(['/book/1'], { rule: 0 });
    const { items } = await runCallback(new Shop(), 'parseRule', response);
    expect(items).toEqual([]);
    expect(await rulesOf(new Shop(), response, 'parseRule')).toEqual([['/book/1', 1, 'parseRule']]);
  });

  it('only calls the callback on the pages of a rule that has one', async () => {
    const { items, requests } = await runCallback(
      new Shop(),
      'parseRule',
      pageWith(['/book/2'], { rule: 1 }),
    );
    expect(items).toEqual([{ book: 'https://example.org/' }]);
    expect(requests).toEqual([]);
  });

  it('does both where the rule says follow, the callback given by name', async () => {
    const { items, requests } = await runCallback(
      new Shop(),
      'parseRule',
      pageWith(['/book/2'], { rule: 2 }),
    );
    expect(items).toEqual([{ author: 'https://example.org/' }]);
    expect(requests).toHaveLength(1);
  });

  it('does nothing on a page of a rule that is gone', async () => {
    const result = await runCallback(new Shop(), 'parseRule', pageWith(['/book/2'], { rule: 9 }));
    expect(result).toMatchObject({ items: [], requests: [] });
  });

  it('looks for links only where the selector says', async () => {
    class Nav extends Shop {
      override rules: readonly Rule[] = [{ selector: 'nav' }];
    }
    expect(await rulesOf(new Nav(), pageWith(['/book/1']))).toEqual([['/nav/1', 0, 'parseRule']]);
  });

  it('leaves out images, archives and the like, unless told what to leave out', async () => {
    class All extends Shop {
      override rules: readonly Rule[] = [{ allow: 'book' }];
    }
    class OnlyPdf extends Shop {
      override rules: readonly Rule[] = [{ allow: 'book', denyExtensions: ['.pdf'] }];
    }
    const links = [
      '/book/a.JPG',
      '/book/b.tar.gz',
      '/book/c.pdf?x=1.html',
      '/book/d.html',
      '/book.zip/e',
      '/book/f',
    ];
    const pathsOf = async (spider: CrawlSpider) =>
      (await rulesOf(spider, pageWith(links))).map(([path]) => path);
    expect(await pathsOf(new All())).toEqual(['/book/d.html', '/book.zip/e', '/book/f']);
    expect(await pathsOf(new OnlyPdf())).toEqual([
      '/book/a.JPG',
      '/book/b.tar.gz',
      '/book/d.html',
      '/book.zip/e',
      '/book/f',
    ]);
  });

  it('does not take the ending of a host for that of a file', async () => {
    class All extends Shop {
      override rules: readonly Rule[] = [{ allow: 'example', deny: 'nav' }];
    }
    const { requests } = await runCallback(
      new All(),
      null,
      pageWith(['https://example.zip', 'https://example.py/']),
    );
    expect(requests.map(({ request }) => request.url)).toEqual([
      'https://example.zip/',
      'https://example.py/',
    ]);
  });

  it('names a callback that it does not have', async () => {
    class Wrong extends Shop {
      override rules: readonly Rule[] = [{ callback: 'parseBok' }];
    }
    await expect(runCallback(new Wrong(), 'parseRule', pageWith([], { rule: 0 }))).rejects.toThrow(
      `a rule's callback, "parseBok", is not a method of the spider "shop"`,
    );
  });
});
