/** Canonical URLs, by the recorded answers of w3lib; the short way agrees with the long one. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from '../../../src/errors.js';
import {
  canonicalizePlainUrl,
  canonicalizeSafeUrl,
  canonicalizeUrl,
} from '../../../src/http/url/canonicalize-url.js';
import { safeUrl, safeUrlAsScrapy } from '../../../src/http/url/safe-url.js';
import { joinUrl } from '../../../src/http/url/url-parts.js';

interface Case {
  readonly id: string;
  readonly url: string;
  readonly keep_fragments: boolean;
  readonly expected?: string | null;
  readonly error?: boolean;
  readonly flags?: readonly string[];
  readonly w3lib_head?: string | null;
}

function vectors(name: string): readonly Case[] {
  const file = new URL(`../../fixtures/vectors/${name}.public.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).cases;
}

function attempt(url: string, keepFragments: boolean): string | null {
  try {
    return canonicalizeUrl(url, { keepFragments });
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidRequestError);
    return null;
  }
}

/** URLs of pieces that lie on, and a little beyond, the border of the short way. */
const nearlyPlainUrls = fc
  .tuple(
    fc.constantFrom('http', 'https', 'HTTP', 'ftp'),
    fc.constantFrom('a.example', 'a_b.example', 'A.example', '127.0.0.1', 'bücher.de', '[::1]', 'a..b.'),
    fc.constantFrom('', ':8080', ':80', ':080', ':99999', ':'),
    fc.array(fc.constantFrom('/', 'a', 'B-', ';p', '%2f', '~', "'", '//', '.', '..', '@:', '|', 'é', '#'), {
      maxLength: 6,
    }),
    fc.array(fc.constantFrom('?', 'a=1', 'a=', 'b', '&', 'a-=1', 'B=~', '%41=1', '+', 'é=', '#x', '='), {
      maxLength: 8,
    }),
  )
  .map(([scheme, host, port, path, query]) => `${scheme}://${host}${port}/${path.join('')}${query.join('')}`);

describe('canonicalizeUrl', () => {
  it('is what w3lib makes of every URL on which its versions agree', () => {
    const cases = vectors('canonicalize').filter((c) => !c.flags?.length);
    const wrong = cases.filter((c) => attempt(c.url, c.keep_fragments) !== (c.error ? null : c.expected));
    expect(wrong).toEqual([]);
    expect(cases.length).toBeGreaterThan(1000);
  });

  it('is what the later w3lib makes of the URLs on which its versions differ', () => {
    const cases = vectors('canonicalize-disputed');
    expect(cases.filter((c) => attempt(c.url, c.keep_fragments) !== c.w3lib_head)).toEqual([]);
  });

  it('answers the same the short way and the long way', () => {
    fc.assert(
      fc.property(nearlyPlainUrls, (url) => {
        const short = canonicalizePlainUrl(url);
        if (short !== null) expect(short).toBe(canonicalizeSafeUrl(safeUrlAsScrapy(url, { brackets: true })));
      }),
      { numRuns: 5000 },
    );
  });

  it('takes the short way for the links of ordinary pages', () => {
    for (const url of [
      'http://a.example/',
      'https://a.example:8080/a/b-1.html',
      'http://a.example/?p=2&id=x_1',
    ]) {
      expect(canonicalizePlainUrl(url)).not.toBeNull();
    }
  });

  it('sorts fields by name and then value as bytes, and keeps blank ones', () => {
    expect(canonicalizeUrl('http://a.example?b&a=2&a=1&%C3%A9=&z=%E9&a-=0')).toBe(
      'http://a.example/?a=1&a=2&a-=0&b=&z=%E9&%C3%A9=',
    );
    expect(canonicalizeUrl('http://a.example/?aa=1&a1=0&a=2&a-=3&a=10')).toBe(
      'http://a.example/?a=10&a=2&a-=3&a1=0&aa=1',
    );
  });

  it('splits the query on ampersands alone', () => {
    expect(canonicalizeUrl('http://a.example/?b=1;a=2')).toBe('http://a.example/?b=1%3Ba%3D2');
  });

  it('drops the fragment unless it is asked to keep it', () => {
    expect(canonicalizeUrl('http://a.example/#x y')).toBe('http://a.example/');
    expect(canonicalizeUrl('http://a.example/#x y', { keepFragments: true })).toBe('http://a.example/#x%20y');
  });

  it('leaves a URL that is canonical already as it is, unless a percent sign was encoded in its path', () => {
    for (const { url, keep_fragments } of vectors('canonicalize').filter((c) => !c.url.includes('%'))) {
      const once = attempt(url, keep_fragments);
      if (once !== null && !once.includes('%')) expect(attempt(once, keep_fragments)).toBe(once);
    }
  });
});

describe('safeUrl', () => {
  it('quotes what cannot go on the wire and leaves the rest as it was written', () => {
    expect(safeUrl(' HTTP://EXAMPLE.com:0080/a b/é?x=[1]&y=%7e\'#"\n')).toBe(
      'http://example.com:80/a%20b/%C3%A9?x=%5B1%5D&y=%7e%27#%22',
    );
    expect(safeUrl('http://example.com/a/../b//c;d?b=1&a=%zz')).toBe(
      'http://example.com/a/../b//c;d?b=1&a=%zz',
    );
  });

  it('changes nothing the second time', () => {
    for (const { url } of vectors('canonicalize')) {
      let once: string;
      try {
        once = safeUrl(url);
      } catch {
        continue;
      }
      expect(safeUrl(once)).toBe(once);
    }
  });

  it('encodes a host as browsers do, for it is the one that answers', () => {
    expect(safeUrl('http://straße.de/')).toBe('http://xn--strae-oqa.de/');
    expect(canonicalizeUrl('http://straße.de/')).toBe('http://strasse.de/');
    expect(safeUrl('http://ex%41mple.com/')).toBe('http://ex%41mple.com/');
    expect(safeUrl('http://0x7f.1/')).toBe('http://0x7f.1/');
  });

  it('keeps the brackets and the zone of an IPv6 address', () => {
    expect(safeUrl('http://[FE80::1%25Eth0]:8080')).toBe('http://[fe80::1%25Eth0]:8080');
  });

  it.each([
    ['half a surrogate pair', 'http://a.example/\ud800'],
    ['a port that is no number', 'http://a.example:8o/'],
    ['a port that is too great', 'http://a.example:65536/'],
    ['a bracket that never closes', 'http://[::1/'],
    ['something else in brackets', 'http://[a.example]/'],
    ['a host that stands for one with a slash in it', 'http://a.example／b/'],
  ])('refuses %s, naming the URL', (_what, url) => {
    expect(() => safeUrl(url)).toThrow(InvalidRequestError);
    expect(() => safeUrl(url)).toThrow(expect.objectContaining({ code: 'invalid_url' }));
  });
});

describe('an invalid URL', () => {
  it('is named without the password in it', () => {
    const refuse = () => safeUrl('http://user:se/cret@a.example:8o/path');
    expect(refuse).toThrow('a.example:8o/path');
    expect(refuse).not.toThrow('cret');
  });
});

describe('joinUrl', () => {
  it.each([
    ['http://a/b/c/d;p?q', 'g', 'http://a/b/c/g'],
    ['http://a/b/c/d;p?q', '../../../g', 'http://a/g'],
    ['http://a/b/c/d;p?q', '?y', 'http://a/b/c/d;p?y'],
    ['http://a/b/c/d;p?q', '#s', 'http://a/b/c/d;p?q#s'],
    ['http://a/b/c/d;p?q', ';x', 'http://a/b/c/;x'],
    ['http://a/b/c/d;p?q', '..', 'http://a/b/'],
    ['http://a/b/c/d;p?q', '//g/h/../i', 'http://g/h/../i'],
    ['http://a/b//c', 'd//e', 'http://a/b/d/e'],
    ['http://a', 'b', 'http://a/b'],
    ['http://a/b', 'mailto:x@y', 'mailto:x@y'],
  ])('joins %s and %s as Python does', (base, url, joined) => {
    expect(joinUrl(base, url)).toBe(joined);
  });
});
