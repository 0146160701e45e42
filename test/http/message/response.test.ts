/** Response: decoding, joining, following, and bodies that are not what they say. */
import { describe, expect, test } from 'vitest';
import { CrawlnodeError, InvalidRequestError } from '../../../src/errors.js';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';

const url = 'https://example.org/a/page.html';

function respond(body: string | Buffer, headers: Record<string, string | string[]> = {}): Response {
  const request = new Request(url, { meta: { page: 1 } });
  const type = { 'Content-Type': 'text/html; charset=utf-8' };
  return new Response({
    url,
    status: 200,
    headers: { ...type, ...headers },
    body: Buffer.from(body),
    request,
  });
}

const callback = () => {};

describe('a response', () => {
  test('has the request and its meta', () => {
    const response = respond('x');
    expect(response.request.url).toBe(url);
    expect(response.meta).toEqual({ page: 1 });
    expect(response.status).toBe(200);
  });

  test('has header names in lower case, and __proto__ is only a name', () => {
    const headers = JSON.parse('{"X-A":"1","x-a":["2","3"],"__proto__":"evil","Set-Cookie":["a=1","b=2"]}');
    const response = respond('x', headers);
    expect(response.headers['x-a']).toEqual(['1', '2', '3']);
    expect([response.header('X-A'), response.header('set-cookie'), response.header('none')]).toEqual([
      '1',
      'a=1',
      null,
    ]);
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(Object.keys(response.headers)).toContain('__proto__');
    expect(Object.getPrototypeOf(response.headers)).toBeNull();
    expect(response.headers.constructor).toBeUndefined();
  });

  test('decodes its text by the declared charset', () => {
    const latin = respond(Buffer.from('caf\xe9 \x93x\x94', 'latin1'), {
      'Content-Type': 'text/html; charset=iso-8859-1',
    });
    expect(latin.text).toBe('café “x”');
    expect(respond('é').text).toBe('é');
  });

  test('gives its JSON, or an error that names the URL', () => {
    const json = { 'Content-Type': 'application/json' };
    expect(respond('{"a":[1]}', json).json()).toEqual({ a: [1] });
    expect(respond('\ufeff{"a":1}', json).json()).toEqual({ a: 1 });
    expect(() => respond('<html>', json).json()).toThrow(CrawlnodeError);
    expect(() => respond('<html>', json).json()).toThrow(url);
  });

  test('has Cheerio over the same tree that css() uses', () => {
    const response = respond('<ul><li>1<li>2</ul>');
    expect(response.$('li').length).toBe(2);
    response.$('li').first().text('changed');
    expect(response.css('li::text').getAll()).toEqual(['changed', '2']);
  });

  test.each([
    ['random bytes', Buffer.from(Array.from({ length: 2_000 }, (_, i) => (i * 7919) % 256))],
    ['invalid UTF-8', Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80])],
    ['nothing', Buffer.alloc(0)],
  ])('of %s neither throws nor finds anything', (_, body) => {
    const response = respond(body, { 'Content-Type': 'text/html; charset=no-such-charset' });
    expect(typeof response.text).toBe('string');
    expect(response.links()).toEqual([]);
    expect(response.css('*').length).toBe(0);
    expect(response.$('*').length).toBe(0);
  });

  test('in UTF-16 is parsed', () => {
    const body = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<a href="/x">é</a>', 'utf16le')]);
    expect(respond(body, { 'Content-Type': 'text/html' }).links()).toEqual(['https://example.org/x']);
  });
});

describe('urljoin', () => {
  test('joins to the base of the page', () => {
    expect(respond('').urljoin('b.html#c')).toBe('https://example.org/a/b.html#c');
    expect(respond('<base href="/x/">').urljoin('../b?c')).toBe('https://example.org/b?c');
    expect(respond('').urljoin('mailto:a@b.c')).toBe('mailto:a@b.c');
    expect(() => respond('').urljoin('http://[::1')).toThrow(InvalidRequestError);
  });
});

describe('follow', () => {
  const response = respond(
    '<a id="a" href=" b.html ">b</a><link id="l" href="/l"><img id="i" src="/i.png"><p id="p"><a id="n">',
  );

  test('makes a request of a URL or of a selected link', () => {
    const request = response.follow('b.html', callback, { meta: { x: 1 }, priority: 5 });
    expect(request).toMatchObject({
      url: 'https://example.org/a/b.html',
      callback,
      meta: { x: 1 },
      priority: 5,
    });
    expect(response.follow('', callback).url).toBe(url);
    expect(response.follow(' /c\n').url).toBe('https://example.org/c');
    expect(response.follow(new URL('/c', url)).url).toBe('https://example.org/c');
    expect(response.followAll([new URL('/c', url)])[0]?.url).toBe('https://example.org/c');
    expect(response.follow('/b').callback).toBeNull();
    expect(response.follow(response.css('#a')).url).toBe('https://example.org/a/b.html');
    expect(response.follow(response.css('#l')).url).toBe('https://example.org/l');
    expect(response.follow(response.css('#i')).url).toBe('https://example.org/i.png');
    expect(response.follow(response.css('#a::attr(href)'), 'parseB').callback).toBe('parseB');
  });

  test('refuses what is no link', () => {
    expect(() => response.follow(response.css('#p'))).toThrow(/without a link/);
    expect(() => response.follow(response.css('#n'))).toThrow(/without a link/);
    expect(() => response.follow(response.css('.none'))).toThrow(/without a link/);
  });
});

describe('followAll', () => {
  const response = respond(
    '<li><a href="1">1</a><li><a>no</a><li><a href="mailto:a@b.c">m</a><li><a href="http://[">bad</a><li><a href="//o.org/2#f">2</a>',
  );
  const urls = (requests: Request[]) => requests.map((request) => request.url);
  const expected = ['https://example.org/a/1', 'https://o.org/2#f'];

  test('takes a selector, selected elements, selected texts, or URLs, and leaves out what is no page', () => {
    expect(urls(response.followAll('li a', callback))).toEqual(expected);
    expect(urls(response.followAll('li a::attr(href)'))).toEqual(expected);
    expect(urls(response.followAll(response.css('a')))).toEqual(expected);
    expect(urls(response.followAll(['1', 'mailto:x', '//o.org/2#f', 'http://a b/']))).toEqual(expected);
    expect(urls(response.followAll(new Set(response.links())))).toEqual([
      'https://example.org/a/1',
      'https://o.org/2',
    ]);
  });

  test('gives each request the callback and options', () => {
    const requests = response.followAll('a', callback, { meta: { from: 1 }, dontFilter: true });
    expect(requests).toHaveLength(2);
    for (const request of requests)
      expect(request).toMatchObject({ callback, meta: { from: 1 }, dontFilter: true });
  });

  test('does not hide a mistake in the options', () => {
    expect(() => response.followAll('a', callback, { meta: { at: new Date() } })).toThrow(
      /meta\.at is a Date/,
    );
  });
});
