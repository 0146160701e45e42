/** Seeds of the start_urls key: plain URLs and JSON objects. */
import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../src/errors.js';
import { parseSeed } from '../../src/spider/parse-seed.js';

describe('a plain seed', () => {
  it('is a URL, whatever space is around it', () => {
    const request = parseSeed(' \ufeffhttps://example.org/a b\r\n');
    expect(request.url).toBe('https://example.org/a%20b');
    expect(request.method).toBe('GET');
    expect(request.callback).toBeNull();
  });

  it.each([
    ['', 'it is empty'],
    [' \n', 'it is empty'],
    ['example.org', 'example.org'],
    ['not a url', 'not a url'],
    ['mailto:me@example.org', 'mailto'],
    ['/relative', '/relative'],
  ])('%j is bad and says why', (seed, reason) => {
    expect(reasonOf(seed)).toContain(reason);
  });
});

describe('a JSON seed', () => {
  it('may have every field of a request', () => {
    const request = parseSeed(
      JSON.stringify({
        url: 'https://example.org/',
        method: 'put',
        headers: { 'X-One': '1', Accept: ['a/b', 'c/d'] },
        body: 'text',
        meta: { page: 1, deep: { list: [null] } },
        cbKwargs: { page: 1 },
        priority: 5,
        callback: 'parsePage',
        errback: 'failed',
        cookies: { session: 'abc' },
        dontFilter: true,
      }),
    );
    expect(request).toMatchObject({
      url: 'https://example.org/',
      method: 'PUT',
      body: Buffer.from('text'),
      meta: { page: 1, deep: { list: [null] } },
      cbKwargs: { page: 1 },
      priority: 5,
      callback: 'parsePage',
      errback: 'failed',
      cookies: { session: 'abc' },
      dontFilter: true,
    });
    expect(request.headers['X-One']).toBe('1');
  });

  it("takes Scrapy's spelling of dont_filter and cb_kwargs", () => {
    const seed = '{"url":"https://example.org/","dont_filter":true,"cb_kwargs":{"page":1}}';
    expect(parseSeed(seed)).toMatchObject({ dontFilter: true, cbKwargs: { page: 1 } });
    expect(reasonOf('{"url":"https://example.org/","cb_kwargs":3}')).toContain('cbKwargs is a number');
  });

  it('is POST with formdata, unless its method is GET: then the form replaces the query', () => {
    const post = parseSeed('{"url":"https://example.org/?a=1","formdata":{"b":"2"}}');
    expect(post.method).toBe('POST');
    expect(post.body?.toString()).toBe('b=2');
    const get = parseSeed('{"url":"https://example.org/?a=1","method":"GET","formdata":{"b":"2"}}');
    expect(get.url).toBe('https://example.org/?b=2');
    expect(get.body).toBeNull();
  });

  it('is POST with json', () => {
    const request = parseSeed('{"url":"https://example.org/","json":{"a":[1]}}');
    expect(request.method).toBe('POST');
    expect(request.body?.toString()).toBe('{"a":[1]}');
  });

  it('takes dont_filter as Scrapy writes it', () => {
    expect(parseSeed('{"url":"https://example.org/","dont_filter":true}').dontFilter).toBe(true);
  });

  it.each([
    ['123', 'not an object'],
    ['"https://example.org/"', 'not an object'],
    ['["https://example.org/"]', 'not an object'],
    ['null', 'not an object'],
    ['true', 'not an object'],
    ['{"url":', 'not valid JSON'],
    ['[1', 'not valid JSON'],
    ['{}', 'no "url"'],
    ['{"url":7}', 'no "url"'],
    ['{"url":"https://example.org/","metod":"GET"}', 'its key "metod" is unknown; did you mean method?'],
    ['{"url":"https://example.org/","q":"x"}', 'form fields go into formdata'],
    ['{"url":"https://example.org/","__proto__":{"method":"PUT"}}', 'its key "__proto__" is unknown'],
    ['{"url":"https://example.org/","constructor":1}', 'its key "constructor" is unknown'],
    ['{"url":"example"}', 'example'],
    ['{"url":"https://example.org/","priority":"high"}', 'priority'],
    ['{"url":"https://example.org/","dont_filter":"yes"}', 'dontFilter'],
    ['{"url":"https://example.org/","meta":[1]}', 'meta'],
    ['{"url":"https://example.org/","meta":null}', 'meta'],
    ['{"url":"https://example.org/","headers":"a: b"}', 'headers'],
    ['{"url":"https://example.org/","headers":{"a":null}}', 'headers.a'],
    ['{"url":"https://example.org/","body":{"a":1}}', 'body'],
    ['{"url":"https://example.org/","callback":7}', 'callback'],
    ['{"url":"https://example.org/","cookies":"a=b"}', 'cookies'],
    ['{"url":"https://example.org/","formdata":7}', 'formdata'],
    ['{"url":"https://example.org/","formdata":null}', 'formdata'],
    ['{"url":"https://example.org/","method":["GET"]}', 'method'],
  ])('%s is bad and says why', (seed, reason) => {
    expect(reasonOf(seed)).toContain(reason);
  });
});

/** Every bad seed is an InvalidRequestError, so that nothing else of a batch is lost to it. */
function reasonOf(seed: string): string {
  try {
    parseSeed(seed);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect((error as InvalidRequestError).code).toBe('bad_seed');
    return (error as Error).message;
  }
  throw new Error(`${seed} was accepted`);
}
