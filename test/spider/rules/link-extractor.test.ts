/** Links of a page by the options of Scrapy's LinkExtractor. */
import { LinkExtractor, type LinkExtractorOptions, Request, Response } from 'crawlnode';
import { describe, expect, it, vi } from 'vitest';

const url = 'https://shop.example/list';
const body = `<nav><a href="/about#team">About us</a> <a href="/product/1">One</a></nav>
<main><a href="/product/1"> <b>First</b> product</a><a href="/product/2?b=2&amp;a=1" rel="nofollow external">Second</a>
<a href="https://other.example/x">Other</a><a href="https://img.shop.example/y">Sub</a>
<a href="/brochure.PDF">PDF</a><a href="mailto:me@shop.example">Mail</a><a href="javascript:go('/product/3')">Three</a>
<img src="/thumb" data-large="/large"><area href="/map"></main>`;

const response = new Response({
  ...{ url, status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(body) },
  request: new Request(url),
});

const paths = (options?: LinkExtractorOptions) =>
  new LinkExtractor(options)
    .extractLinks(response)
    .map((link) => link.url.replace('https://shop.example', ''));

describe('a LinkExtractor', () => {
  it('gives URL, text and nofollow of each link once, in document order', () => {
    expect(new LinkExtractor().extractLinks(response)).toEqual([
      { url: 'https://shop.example/about', text: 'About us', nofollow: false },
      { url: 'https://shop.example/product/1', text: 'One', nofollow: false },
      { url: 'https://shop.example/product/2?b=2&a=1', text: 'Second', nofollow: true },
      { url: 'https://other.example/x', text: 'Other', nofollow: false },
      { url: 'https://img.shop.example/y', text: 'Sub', nofollow: false },
      { url: 'https://shop.example/map', text: '', nofollow: false },
    ]);
  });

  it.each<[string, LinkExtractorOptions, string[]]>([
    ['allow', { allow: /\/product\// }, ['/product/1', '/product/2?b=2&a=1']],
    ['several patterns', { allow: ['about$', /map/] }, ['/about', '/map']],
    ['deny', { allow: 'product', deny: /2/ }, ['/product/1']],
    [
      'allowDomains with subdomains',
      { allowDomains: 'Shop.example', deny: /product|about|map/ },
      ['https://img.shop.example/y'],
    ],
    ['denyDomains', { denyDomains: ['shop.example'] }, ['https://other.example/x']],
    ['denyExtensions', { denyExtensions: ['.html'], allow: /pdf/i }, ['/brochure.PDF']],
    ['restrictCss', { restrictCss: 'nav' }, ['/about', '/product/1']],
    ['restrictXpath', { restrictXpath: '//nav', allow: 'about' }, ['/about']],
    ['restrictText', { restrictText: /^(Second|Other)$/ }, ['/product/2?b=2&a=1', 'https://other.example/x']],
    ['tags and attrs', { tags: 'img', attrs: ['src', 'data-large'] }, ['/thumb', '/large']],
    ['unique', { unique: false, allow: 'product/1' }, ['/product/1', '/product/1']],
    ['canonicalize', { canonicalize: true, allow: 'product/2' }, ['/product/2?a=1&b=2']],
    ['processValue', { processValue: (value) => /go\('(.+)'\)/.exec(value)?.[1] ?? null }, ['/product/3']],
  ])('%s', (_name, options, expected) => {
    expect(paths(options)).toEqual(expected);
  });

  it('refuses a page whose links lie within each other, so that their texts would take long', () => {
    const headers = { 'content-type': 'text/html' };
    const body = '<a href=x>'.repeat(40_000);
    const nested = new Response({ url: 'https://shop.example/', headers, body });
    expect(() => new LinkExtractor().extractLinks(nested)).toThrow(
      expect.objectContaining({ code: 'selector_cost', message: expect.stringContaining('LinkExtractor') }),
    );
  });

  it('says whether a URL would be extracted', () => {
    const products = new LinkExtractor({ allow: /product/, denyDomains: 'other.example' });
    expect(products.matches('https://shop.example/product/9')).toBe(true);
    expect(products.matches('https://other.example/product/9')).toBe(false);
  });

  it('refuses an unknown option and a broken pattern by name', () => {
    // @ts-expect-error Scrapy's spelling
    expect(() => new LinkExtractor({ restrict_css: 'main' })).toThrow('has no option "restrict_css"');
    expect(() => new LinkExtractor({ allow: '(' })).toThrow('LinkExtractor({ allow })');
  });

  it('finds nofollow in a rel of any length without taking it apart', () => {
    const split = vi.spyOn(String.prototype, 'split');
    const html = `<a href=/x rel="${'ab '.repeat(100_000)}NoFollow">x</a><a href=/y rel=nofollows>y</a>`;
    const links = new LinkExtractor().extractLinks(new Response({ url, body: html }));
    expect(links.map(({ nofollow }) => nofollow)).toEqual([true, false]);
    expect(split.mock.contexts.filter((text) => String(text).length > 100_000)).toEqual([]);
    split.mockRestore();
  });
});
