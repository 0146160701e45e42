/** Request: what it takes, what it makes of it, and what it refuses by name. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRequestError } from '../../../src/errors.js';
import { jsonCopy } from '../../../src/http/message/record/json-safe.js';
import { Request, type RequestOptions } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';

const url = 'https://example.org/a';
const refusal = (options: unknown, address: unknown = url): string => {
  try {
    new Request(address as string, options as RequestOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidRequestError);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
};

describe('a request', () => {
  test('is a GET with nothing else unless told', () => {
    const request = new Request(url);
    expect(request).toMatchObject({
      url,
      method: 'GET',
      body: null,
      meta: {},
      priority: 0,
      dontFilter: false,
    });
    expect(request).toMatchObject({ callback: null, errback: null, cookies: null });
    expect(request).toMatchObject({ depth: 0, attempts: 0, redirects: 0, origin: null });
    expect(Object.keys(request.headers)).toEqual([]);
  });

  test('refuses a callback that is given and undefined: a misspelt method', () => {
    const probe: { parsPage?: () => void } = {};
    const misspelt = /^callback is undefined: is the name of the method misspelt\?/;
    expect(refusal({ callback: probe.parsPage })).toMatch(misspelt);
    expect(refusal({ errback: undefined })).toMatch(/^errback is undefined/);
    const page = new Response({
      url,
      status: 200,
      headers: {},
      body: Buffer.from(''),
      request: new Request(url),
    });
    expect(() => page.follow('/b', probe.parsPage)).toThrow(misspelt);
    expect(() => page.followAll([], probe.parsPage)).toThrow(misspelt);
    expect(page.follow('/b').callback).toBeNull();
    expect(page.followAll(['/b'], null, { priority: 3 })).toMatchObject([{ callback: null, priority: 3 }]);
  });

  test('keeps cbKwargs in every copy, and refuses what JSON cannot hold', () => {
    const request = new Request(url, { cbKwargs: { price: 3, tags: ['a'] } });
    expect(request.cbKwargs).toEqual({ price: 3, tags: ['a'] });
    expect(request.replace({ priority: 1 }).cbKwargs).toEqual({ price: 3, tags: ['a'] });
    expect(request.replace({ cbKwargs: {} }).cbKwargs).toEqual({});
    expect(new Request(url).cbKwargs).toEqual({});
    expect(refusal({ cbKwargs: { when: new Date(0) } })).toMatch(/^cbKwargs.when is a Date/);
    expect(refusal({ cbKwargs: ['a'] as unknown as Record<string, unknown> })).toMatch(
      /^cbKwargs is an array/,
    );
  });

  test('escapes its URL as Scrapy does', () => {
    expect(new Request('HTTP://Example.org/a b?q=é').url).toBe('http://example.org/a%20b?q=%C3%A9');
    expect(new Request(new URL('/x', url)).url).toBe('https://example.org/x');
  });

  test('upper-cases its method', () => {
    expect(new Request(url, { method: 'put' }).method).toBe('PUT');
  });

  test('takes a body as text or bytes', () => {
    expect(new Request(url, { method: 'POST', body: 'é' }).body).toEqual(Buffer.from('é'));
    expect(new Request(url, { method: 'POST', body: new Uint8Array([1, 2]) }).body).toEqual(
      Buffer.from([1, 2]),
    );
  });

  test('json implies POST and its content type', () => {
    const request = new Request(url, { json: { a: [1, null], gone: undefined } });
    expect(request.method).toBe('POST');
    expect(request.body?.toString()).toBe('{"a":[1,null]}');
    expect({ ...request.headers }).toEqual({ 'Content-Type': 'application/json' });
  });

  test('a content type given with json stays', () => {
    const request = new Request(url, {
      json: 1,
      method: 'PUT',
      headers: { 'content-type': 'application/x+json' },
    });
    expect(request.method).toBe('PUT');
    expect({ ...request.headers }).toEqual({ 'content-type': 'application/x+json' });
  });

  test('formdata implies POST and is encoded as Python does it', () => {
    const request = new Request(url, { formdata: { 'a b': "x~*'", list: ['1', 2], on: true } });
    expect(request.method).toBe('POST');
    expect(request.body?.toString()).toBe('a+b=x~%2A%27&list=1&list=2&on=true');
    expect({ ...request.headers }).toEqual({ 'Content-Type': 'application/x-www-form-urlencoded' });
  });

  test('formdata of a GET replaces the query', () => {
    const request = new Request(`${url}?old=1#part`, {
      method: 'GET',
      formdata: [
        ['q', 'é'],
        ['q', 'b'],
      ],
    });
    expect(request).toMatchObject({ method: 'GET', body: null, url: `${url}?q=%C3%A9&q=b#part` });
    expect(Object.keys(request.headers)).toEqual([]);
  });

  test('takes cookies as a map or as a list', () => {
    expect({ ...new Request(url, { cookies: { a: 1, b: 'x' } }).cookies }).toEqual({ a: '1', b: 'x' });
    expect({ ...new Request(url, { cookies: [{ name: 'a', value: 'y' }] }).cookies }).toEqual({ a: 'y' });
    expect(new Request(url, { cookies: {} }).cookies).toBeNull();
    const placed = { name: 'a', value: 1, domain: '.Example.org', path: '/shop', secure: false };
    expect(new Request(url, { cookies: [placed, { name: 'b', value: 'x' }] }).cookies).toEqual([
      { name: 'a', value: '1', domain: 'example.org', path: '/shop', secure: false },
      { name: 'b', value: 'x' },
    ]);
  });

  test('stores timeout, cookieJar and proxy in meta, and checks them there', () => {
    const request = new Request('http://a.example/', { timeout: 2.5, cookieJar: 'one', meta: { page: 1 } });
    expect(request.meta).toEqual({ page: 1, download_timeout: 2.5, cookiejar: 'one' });
    expect(request.replace({ timeout: null }).meta).toEqual({
      page: 1,
      download_timeout: null,
      cookiejar: 'one',
    });
    expect(() => new Request('http://a.example/', { timeout: '5' as never })).toThrow('a number of seconds');
  });

  test('keeps a copy of its meta', () => {
    const meta = { list: [{ a: 1 }], gone: undefined };
    const request = new Request(url, { meta });
    meta.list.push({ a: 2 });
    expect(request.meta).toEqual({ list: [{ a: 1 }] });
    expect('gone' in request.meta).toBe(false);
  });

  test('__proto__ as a name in meta, headers and cookies is harmless', () => {
    const evil = JSON.parse('{"__proto__":{"polluted":"yes"},"a":{"__proto__":{"polluted":"yes"}}}');
    const request = new Request(url, { meta: evil });
    expect(request.meta.polluted).toBeUndefined();
    expect(request.meta.a.polluted).toBeUndefined();
    const named = JSON.parse('{"__proto__":"x"}');
    expect(Object.keys(new Request(url, { headers: named }).headers)).toEqual(['__proto__']);
    expect(Object.keys(new Request(url, { cookies: named }).cookies ?? {})).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('replace changes what is named and keeps the rest, the bookkeeping included', () => {
    const callback = () => {};
    const first = new Request(url, { json: [1], meta: { a: 1 }, priority: 3, callback, cookies: { c: 'd' } });
    const second = first.replace({ url: 'https://example.org/b', redirects: 1, depth: 2 });
    expect(second).toMatchObject({ url: 'https://example.org/b', method: 'POST', priority: 3, callback });
    expect(second).toMatchObject({ redirects: 1, depth: 2, attempts: 0, meta: { a: 1 } });
    expect(second.body).toEqual(first.body);
    expect(second.replace({ attempts: 4 })).toMatchObject({ depth: 2, redirects: 1, attempts: 4 });
    expect(second.replace({ method: 'GET', body: null })).toMatchObject({ method: 'GET', body: null });
    expect(second.replace({ json: { b: 2 } }).body?.toString()).toBe('{"b":2}');
  });
});

describe('a request is refused, naming the culprit,', () => {
  test.each([
    ['example.org/a', /no scheme/],
    ['/a', /no scheme/],
    ['mailto:a@b.c', /not mailto/],
    ['javascript:alert(1)', /not javascript/],
    ['file:///etc/passwd', /not file/],
    ['data:text/html,x', /not data/],
    ['http://', /no host/],
    ['http:///a', /no host/],
    ['https://user@/a', /no host/],
    ['http://999.1.2.300/', /host or port/],
    ['http://[::1/', /URL/],
  ])('when its URL is %s', (address, message) => {
    expect(refusal({}, address)).toMatch(message);
  });

  test('when its URL is not text', () => {
    expect(refusal({}, 7)).toMatch(/must be text, not number/);
    expect(refusal({}, null)).toMatch(/must be text, not null/);
  });

  test('without the password its URL carries', () => {
    const message = refusal({}, 'ftp://user:secret@example.org/');
    expect(message).toMatch(/not ftp/);
    expect(message).not.toContain('secret');
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = { again: cycle };
  let deep: unknown = 1;
  for (let i = 0; i < 5_000; i++) deep = [deep];
  class Money {}
  test.each<[string, unknown, string]>([
    ['a Date', { user: { birthday: new Date(0) } }, 'meta.user.birthday is a Date'],
    ['a Map', { a: new Map() }, 'meta.a is a Map'],
    ['a Set', { a: { b: [0, 0, 0, new Set()] } }, 'meta.a.b[3] is a Set'],
    ['a function', { f() {} }, 'meta.f is a function'],
    ['an instance of a class', { price: new Money() }, 'meta.price is a Money'],
    ['bytes', { b: Buffer.from('x') }, 'meta.b is a Buffer'],
    ['NaN', { n: Number.NaN }, 'meta.n is NaN'],
    ['Infinity', { n: -Infinity }, 'meta.n is -Infinity'],
    ['a bigint', { n: 1n }, 'meta.n is a bigint'],
    ['a symbol', { s: Symbol('x') }, 'meta.s is a symbol'],
    ['a symbol as key', { s: { [Symbol('x')]: 1 } }, 'meta.s is an object with a symbol'],
    ['undefined in an array', { a: [undefined] }, 'meta.a[0] is undefined'],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    ['a hole in an array', { a: [1, , 2] }, 'meta.a[1] is undefined'],
    ['a cycle', cycle, 'meta.self.again is part of a cycle'],
    ['nesting without end', { deep }, 'nested more than 100 levels deep'],
    ['a key that is no identifier', { 'x y': 1n }, 'meta["x y"] is a bigint'],
    ['an array', [], 'meta is an array'],
    ['null', null, 'meta is null'],
    ['text', 'x', 'meta is a string'],
  ])('when its meta holds or is %s', (_, meta, message) => {
    expect(refusal({ meta })).toContain(message);
  });

  test.each<[unknown, RegExp]>([
    [{ method: 'GE T' }, /method is "GE T"/],
    [{ method: '' }, /method is ""/],
    [{ method: 7 }, /method is 7/],
    [{ headers: { 'X-A': 'a\r\nX-B: b' } }, /headers\.X-A has a line break/],
    [{ headers: { 'X-A': ['ok', 'a\nb'] } }, /headers\.X-A has a line break/],
    [{ headers: { 'X A': '1' } }, /"X A", which is no header name/],
    [{ headers: { 'X-A': null } }, /headers\.X-A is not text/],
    [{ headers: { 'X-A': '☃' } }, /headers\.X-A has/],
    [{ headers: 'X-A: 1' }, /headers is not an object/],
    [{ body: { a: 1 } }, /body is neither text nor bytes/],
    [{ json: new Date() }, /json is a Date/],
    [{ json: 1, body: 'x' }, /one of body, json and formdata/],
    [{ json: 1, formdata: { a: '1' } }, /one of body, json and formdata/],
    [{ formdata: { a: { b: 1 } } }, /formdata\.a is not text/],
    [{ formdata: 'a=1' }, /formdata is neither/],
    [{ priority: 1.5 }, /priority is 1\.5/],
    [{ priority: 2 ** 31 }, /priority is 2147483648/],
    [{ priority: '1' }, /priority is 1;/],
    [{ dontFilter: 1 }, /dontFilter is 1/],
    [{ callback: 7 }, /callback is 7, neither/],
    [{ errback: '' }, /errback is "", neither/],
    [{ cookies: { 'a b': 'x' } }, /"a b", which is no cookie name/],
    [{ cookies: { a: 'x; Path=/' } }, /cookies\.a has a character/],
    [{ cookies: { a: null } }, /cookies\.a is not text/],
    [
      { cookies: [{ name: 'a', value: 'x', domain: 'b.c/d' }] },
      /cookies\[0\]\.domain is "b\.c\/d", which is no host name/,
    ],
    [{ cookies: [{ name: 'a', value: 'x', path: 'b' }] }, /cookies\[0\]\.path is "b"; it must be a path/],
    [{ cookies: [{ name: 'a', value: 'x', secure: 1 }] }, /cookies\[0\]\.secure is 1, neither/],
    [
      { cookies: [{ name: 'a', value: 'x', expires: 1 }] },
      /cookies\[0\]\.expires is not known; a cookie has name, value/,
    ],
    [{ cookies: ['a=b'] }, /cookies\[0\] is not an object/],
  ])('with %j', (options, message) => {
    expect(refusal(options)).toMatch(message);
  });
});

test('whatever JSON can hold survives jsonCopy unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = jsonCopy(value, 'value');
      const text = JSON.stringify(value);
      if (!text.includes('__proto__')) expect(JSON.stringify(copy)).toBe(text);
      expect(jsonCopy(copy, 'value')).toEqual(copy);
    }),
  );
});

test('anything at all is either copied as JSON would or refused as an InvalidRequestError', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  fc.assert(
    fc.property(anything, (value) => {
      try {
        const copy = jsonCopy(value, 'value');
        expect(JSON.parse(JSON.stringify(copy))).toEqual(copy);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidRequestError);
      }
    }),
    { numRuns: 500 },
  );
});

test("an option that a request does not know is refused, one of Scrapy's above all; a spread request is none", () => {
  const make = (options: object) => () => new Request('https://a.example/', options as RequestOptions);
  expect(make({ dont_filter: true })).toThrow(
    '"dont_filter" is no option of a request; did you mean dontFilter?',
  );
  expect(make({ callBack: 'parse' })).toThrow('"callBack" is no option of a request; did you mean callback?');
  expect(make({ cb_kwargs: {} })).toThrow('"cb_kwargs" is no option of a request; did you mean cbKwargs?');
  expect(make({ userData: {} })).toThrow('"userData" is no option of a request: use meta');
  expect(make({ label: 'DETAIL' })).toThrow('"label" is no option of a request: use callback');
  expect(make({ encoding: 'utf-8' })).toThrow(
    /^"encoding" is no option of a request; there are method, headers, /,
  );
  expect(make({ callback: { meta: {} } })).toThrow('the options of follow and followAll come after it');
  expect(make({ callback: 5 })).toThrow('callback is 5, neither a method');
  const first = new Request('https://a.example/', { priority: 3, meta: { a: 1 } });
  expect(make({ ...first, dontFilter: true })()).toMatchObject({
    priority: 3,
    meta: { a: 1 },
    dontFilter: true,
  });
});
