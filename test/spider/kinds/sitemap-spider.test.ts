/** A SitemapSpider requests the pages of its sitemaps that its rules match, and survives what sites call a sitemap. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';
import type { SitemapEntry } from '../../../src/http/sitemap/sitemap.js';
import type { SpiderLogger } from '../../../src/log.js';
import { SitemapSpider } from '../../../src/spider/kinds/sitemap-spider.js';
import { runCallback } from '../../../src/spider/run-callback.js';

class Shop extends SitemapSpider {
  override name = 'shop';
  override sitemapRules = [
    { allow: /\/product\//, callback: this.parseProduct, cbKwargs: { kind: 'product' } },
    { allow: ['/shop/', /\/about$/] },
  ];

  parseProduct(_response: Response) {}
}

function sitemap(body: string | Buffer, url = 'https://a.example/sitemap.xml', cbKwargs = {}): Response {
  const request = new Request(url, { cbKwargs });
  const headers = { 'content-type': 'application/xml' };
  return new Response({ url, status: 200, headers, body: Buffer.from(body), request });
}

const urlset = (...entries: string[]) =>
  `<urlset>${entries.map((at) => `<url>${at}</url>`).join('')}</urlset>`;
const index = (...locs: string[]) =>
  `<sitemapindex>${locs.map((loc) => `<sitemap><loc>${loc}</loc></sitemap>`).join('')}</sitemapindex>`;
const loc = (url: string, more = '') => `<loc>${url}</loc>${more}`;

/** URL and callback of each request of a sitemap, and what is logged. */
async function requestsOf(spider: SitemapSpider, response: Response) {
  const warnings: string[] = [];
  const log = { warn: (_: object, message: string) => void warnings.push(message), info() {}, debug() {} };
  Object.assign(spider, { log: log as unknown as SpiderLogger });
  const { requests, unfetchable } = await runCallback(spider, 'parseSitemap', response);
  const found = requests.map(({ request, callback }) => [request.url, callback ?? 'parse']);
  return { found, warnings, unfetchable, requests: requests.map(({ request }) => request) };
}

describe('a SitemapSpider', () => {
  it('begins with its sitemaps and start URLs', () => {
    class Both extends Shop {
      override sitemapUrls = ['https://a.example/robots.txt'];
      override startUrls = ['https://a.example/'];
    }
    const [first, second] = [...new Both().start()];
    expect(first).toMatchObject({
      url: 'https://a.example/robots.txt',
      callback: Both.prototype.parseSitemap,
    });
    expect(second).toBe('https://a.example/');
  });

  it('warns of a sitemap of which no page matches its rules, unless an index led to it', async () => {
    const text = urlset(loc('https://a.example/blog/1'), loc('https://a.example/blog/2'));
    const { found, warnings } = await requestsOf(new Shop(), sitemap(text));
    expect(found).toEqual([]);
    expect(warnings).toEqual(['no page of a sitemap matches sitemapRules, so none is requested']);
    const ofIndex = sitemap(text, 'https://a.example/blog.xml', { indexes: 1 });
    expect((await requestsOf(new Shop(), ofIndex)).warnings).toEqual([]);
    expect((await requestsOf(new Shop(), sitemap(urlset()))).warnings).toEqual([]);
  });

  it('requests each page by the first rule that matches, and no other', async () => {
    const text = urlset(
      loc('https://a.example/product/shop/1?a=1&amp;b=2'),
      loc(' /shop/2 '),
      loc('https://a.example/about'),
      loc('https://a.example/private'),
      '<lastmod>2026-01-01</lastmod>',
    );
    const { found, requests, warnings } = await requestsOf(new Shop(), sitemap(text));
    expect(found).toEqual([
      ['https://a.example/product/shop/1?a=1&b=2', 'parseProduct'],
      ['https://a.example/shop/2', 'parse'],
      ['https://a.example/about', 'parse'],
    ]);
    expect(requests[0]?.cbKwargs).toEqual({ kind: 'product' });
    expect(warnings).toEqual([]);
  });

  it('takes every page without rules, and other languages where it is told to', async () => {
    class All extends SitemapSpider {
      override name = 'all';
    }
    const link = '<xhtml:link rel="alternate" hreflang="de" href="https://a.example/de"/>';
    const text = urlset(loc('https://a.example/', link), loc('mailto:me@a.example'));
    const one = await requestsOf(new All(), sitemap(text));
    expect(one.found).toEqual([['https://a.example/', 'parse']]);
    expect(one.unfetchable).toEqual(['mailto:me@a.example']);
    class Languages extends All {
      override sitemapAlternateLinks = true;
    }
    expect((await requestsOf(new Languages(), sitemap(text))).found).toContainEqual([
      'https://a.example/de',
      'parse',
    ]);
  });

  it('follows an index to the sitemaps that sitemapFollow matches, and a robots.txt to all', async () => {
    class Chosen extends Shop {
      override sitemapFollow = [/shop/];
    }
    const text = index('https://a.example/shop.xml.gz', 'https://a.example/blog.xml');
    const { found, requests } = await requestsOf(new Chosen(), sitemap(text));
    expect(found).toEqual([['https://a.example/shop.xml.gz', 'parseSitemap']]);
    expect(requests[0]?.cbKwargs).toEqual({ indexes: 1 });
    class Strict extends Chosen {
      override sitemapFilter() {
        return [];
      }
    }
    const robots = 'User-agent: *\nDisallow: /x\nSitemap: https://a.example/shop.xml # main\nsitemap: /b.xml';
    expect((await requestsOf(new Strict(), sitemap(robots, 'https://a.example/robots.txt'))).found).toEqual([
      ['https://a.example/shop.xml', 'parseSitemap'],
      ['https://a.example/b.xml', 'parseSitemap'],
    ]);
  });

  it('lets sitemapFilter choose entries, by lastmod and the like', async () => {
    class Recent extends Shop {
      override *sitemapFilter(entries: Iterable<SitemapEntry>) {
        for (const entry of entries) {
          if (entry.lastmod !== null && entry.lastmod >= '2026') yield { ...entry, loc: `${entry.loc}?new` };
        }
      }
    }
    const text = urlset(
      loc('https://a.example/product/1', '<lastmod>2025-12-31</lastmod>'),
      loc('https://a.example/product/2', '<lastmod>2026-01-01T10:00:00Z</lastmod>'),
      loc('https://a.example/product/3'),
    );
    expect((await requestsOf(new Recent(), sitemap(text))).found).toEqual([
      ['https://a.example/product/2?new', 'parseProduct'],
    ]);
  });

  it('reads gzip by its first bytes, whatever the headers say', async () => {
    const text = urlset(loc('https://a.example/product/1'));
    const packed = sitemap(gzipSync(gzipSync(text)), 'https://a.example/sitemap');
    expect((await requestsOf(new Shop(), packed)).found.length).toBe(1);
  });

  it('takes what is before a damaged place, and fails where there is nothing', async () => {
    const cut = urlset(loc('https://a.example/product/1'), loc('https://a.example/product/2')).slice(0, -30);
    const { found, warnings } = await requestsOf(new Shop(), sitemap(cut));
    expect(found.length).toBe(1);
    expect(warnings).toEqual(['a sitemap is damaged; the entries before the damage are taken']);
    const fails = async (body: string | Buffer, url?: string, cbKwargs = {}) =>
      runCallback(new Shop(), 'parseSitemap', sitemap(body, url, cbKwargs)).then(
        () => null,
        (error: Error & { code: string }) => `${error.code}: ${error.message}`,
      );
    expect(await fails('<html><body>not here</body></html>')).toMatch(/^bad_sitemap: .*an HTML page/);
    expect(await fails('User-agent: *', 'https://a.example/robots.txt')).toMatch(/names no sitemap/);
    expect(await fails(gzipSync(cut).subarray(0, 30))).toMatch(/^bad_gzip: .*ends in the middle/);
    expect(await fails(gzipSync(Buffer.alloc(80 * 1024 * 1024, ' ')))).toMatch(
      /^bad_gzip: .*more than 64 MB/,
    );
    expect(await fails(index('https://a.example/deeper.xml'), undefined, { indexes: 3 })).toMatch(
      /^bad_sitemap: .*an index within 3 others/,
    );
  });

  it('takes the entries of a gzip that ends in the middle', async () => {
    const urls = Array.from({ length: 2_000 }, (_, n) => `https://a.example/product/${n}`);
    const cut = (text: string) => {
      const packed = gzipSync(text);
      return packed.subarray(0, packed.length / 2);
    };
    for (const text of [urlset(...urls.map((url) => loc(url))), urls.join('\n')]) {
      const { found, warnings } = await requestsOf(new Shop(), sitemap(cut(text)));
      expect(found.length).toBeGreaterThan(500);
      expect(found.map(([url]) => url)).toEqual(urls.slice(0, found.length));
      expect(warnings).toEqual(['a sitemap is damaged; the entries before the damage are taken']);
    }
  });

  it('says what sitemapFilter is to return', async () => {
    class Wrong extends Shop {
      override sitemapFilter(): Iterable<SitemapEntry> {
        return undefined as never;
      }
    }
    const response = sitemap(urlset(loc('https://a.example/product/1')));
    await expect(requestsOf(new Wrong(), response)).rejects.toThrow(
      'sitemapFilter() returns entries: a list',
    );
  });

  it('bounds the requests of one sitemap', async () => {
    const link = '<link href="/b"/>'.repeat(900);
    class Languages extends SitemapSpider {
      override name = 'languages';
      override sitemapAlternateLinks = true;
    }
    const text = urlset(...Array.from({ length: 120 }, (_, n) => loc(`https://a.example/${n}`, link)));
    const { found, warnings } = await requestsOf(new Languages(), sitemap(text));
    expect(found.length).toBe(100_000);
    expect(warnings).toEqual(['a sitemap leads to more requests than one page may make']);
  });
});
