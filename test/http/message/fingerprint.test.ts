/** The three fingerprints, by the recorded answers of Scrapy and Scrapy-Redis. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../../src/errors.js';
import { type FingerprintAlgorithm, fingerprint } from '../../../src/http/message/fingerprint.js';
import { canonicalizeSafeUrl } from '../../../src/http/url/canonicalize-url.js';
import { scrapyRequestUrl } from '../../../src/http/url/scrapy-request-url.js';

interface Case {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly body_base64: string;
  readonly headers?: Record<string, string | string[]>;
  readonly include_headers?: string[];
  readonly keep_fragments?: boolean;
  readonly scrapy?: string;
  readonly scrapy_redis?: string;
  readonly scrapy_legacy?: string;
}

const file = new URL('../../fixtures/vectors/fingerprint.public.json', import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8')).cases;

function fingerprintOf(c: Case, algorithm: FingerprintAlgorithm): string {
  return fingerprint(
    { url: c.url, method: c.method, body: Buffer.from(c.body_base64, 'base64'), headers: c.headers },
    { algorithm, includeHeaders: c.include_headers, keepFragments: c.keep_fragments },
  );
}

const get = (url: string) => fingerprint({ url, method: 'GET' });

describe('fingerprint', () => {
  it.each([
    ['scrapy', '7873d70c33756a15fed7649ba909e064bf9c5844'],
    ['scrapy-redis', '572305668c02da5fd349752b8e93bb46f1a2bb36'],
    ['scrapy-2.6', 'b2e5245ef826fd9576c93bd6e392fce3133fab62'],
  ] as const)('of example.org by %s is the published one', (algorithm, hex) => {
    expect(fingerprint({ url: 'http://example.org/', method: 'GET' }, { algorithm })).toBe(hex);
  });

  it("is Scrapy's for every recorded request", () => {
    expect(cases.filter((c) => c.scrapy !== undefined && fingerprintOf(c, 'scrapy') !== c.scrapy)).toEqual(
      [],
    );
  });

  it("is Scrapy-Redis' for every recorded request", () => {
    const recorded = cases.filter((c) => c.scrapy_redis !== undefined);
    expect(recorded.filter((c) => fingerprintOf(c, 'scrapy-redis') !== c.scrapy_redis)).toEqual([]);
  });

  it('is that of Scrapy up to 2.6 for every recorded request', () => {
    const recorded = cases.filter((c) => c.scrapy_legacy !== undefined);
    expect(recorded.filter((c) => fingerprintOf(c, 'scrapy-2.6') !== c.scrapy_legacy)).toEqual([]);
  });

  it('is the same the short way and the long way', () => {
    const pieces = [
      '/',
      'a',
      'B',
      '?',
      '&',
      'a=1',
      'b=',
      '=',
      '#!k=v',
      '#x',
      '%2f',
      ';',
      '"',
      '\x7f',
      'é',
      '..',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (tail) => {
        const url = `https://a.example/${tail.join('')}`;
        const canonical = canonicalizeSafeUrl(scrapyRequestUrl(url));
        expect(canonical).toMatch(/^[!#-[\]-~]*$/);
        const json = `{"body": "", "method": "GET", "url": "${canonical}"}`;
        expect(get(url)).toBe(createHash('sha1').update(json).digest('hex'));
      }),
      { numRuns: 3000 },
    );
  });

  it('does not change with the order of the query, the case of the method or a fragment', () => {
    expect(get('http://a.example/?b=1&a=2#x')).toBe(get('http://a.example/?a=2&b=1'));
    expect(fingerprint({ url: 'http://a.example/', method: 'get' })).toBe(get('http://a.example/'));
  });

  it('changes with the method, the body, and a fragment that is kept', () => {
    const url = 'http://a.example/#x';
    const all = [
      get(url),
      fingerprint({ url, method: 'POST' }),
      fingerprint({ url, method: 'GET', body: Buffer.from('a') }),
      fingerprint({ url, method: 'GET' }, { keepFragments: true }),
    ];
    expect(new Set(all).size).toBe(4);
  });

  it('takes a body that is a view into a larger buffer for what the view shows', () => {
    const body = new Uint8Array(Buffer.from('xaby')).subarray(1, 3);
    expect(fingerprint({ url: 'http://a.example/', method: 'POST', body })).toBe(
      fingerprint({ url: 'http://a.example/', method: 'POST', body: Buffer.from('ab') }),
    );
  });

  it('finds included headers in any case, and values given under two spellings together', () => {
    const one = { url: 'http://a.example/', method: 'GET', headers: { 'X-A': ['1', '2'] } };
    const two = { url: 'http://a.example/', method: 'GET', headers: { 'x-a': '1', 'X-A': '2' } };
    const options = { algorithm: 'scrapy', includeHeaders: ['x-A'] } as const;
    expect(fingerprint(two, options)).toBe(fingerprint(one, options));
    expect(fingerprint(one, options)).not.toBe(fingerprint(one, { algorithm: 'scrapy' }));
  });

  it('refuses an invalid URL', () => {
    expect(() => get('http://[::1/')).toThrow(InvalidRequestError);
  });
});

describe('scrapyRequestUrl', () => {
  it('moves a fragment that begins with an exclamation mark into the query', () => {
    expect(scrapyRequestUrl('http://a.example/?b=%E9&a#!k=v w')).toBe(
      'http://a.example/?b=%EF%BF%BD&a=&_escaped_fragment_=k%3Dv%2520w',
    );
    expect(scrapyRequestUrl('http://a.example/?_escaped_fragment_=1&_escaped_fragment_=2&z=3#!x')).toBe(
      'http://a.example/?_escaped_fragment_=x&z=3',
    );
  });

  it('takes the brackets from an IPv6 address', () => {
    expect(scrapyRequestUrl('http://[2001:DB8::1]:80/')).toBe('http://2001:db8::1:80/');
  });
});
