/** Joining: the fast way gives what the URL parser gives. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { urlJoiner } from '../../../src/http/url/join-url.js';
import { parseUrl } from '../../../src/http/url/parse-url.js';

describe('joining', () => {
  const segment = fc.constantFrom(
    'a',
    'b.html',
    '..',
    '.',
    '...',
    '',
    '%2e',
    '%2E%2e',
    '%20',
    '%zz',
    '%',
    'c d',
    'é',
    'x:y',
    '~u',
    '@',
    "'",
    '|',
    '^',
    '[',
    '\\',
    '\t',
    'a+b',
    '*',
    '{',
    '.a',
    'a.',
    '-_',
  );
  const path = fc.array(segment, { maxLength: 5 }).map((segments) => segments.join('/'));
  const query = fc.constantFrom('', '?', '?a=1', "?a='", '?x/../y', '??', '?a b', '?é', '?%2e', '?"', '?<');
  const fragment = fc.constantFrom('', '#', '#f', '#a b', '#é', '#`', '#<', '#a#b', '#%2e');
  const start = fc.constantFrom(
    '',
    '',
    '',
    '/',
    './',
    '../',
    '../../',
    '//',
    '/\\',
    ' ',
    'http:',
    'https:',
    'https:/',
    'http://h.org',
    'https://H.org/',
    'http://h.org:80/',
    'http://1.2.3.4/',
    'http://1.2/',
    'http://a.0x1/',
    'http://u:p@h.org/',
    'http://h.org./',
    'http://a..b/',
    'http://-a-.b/',
    'http://xn--a/',
    'http://ab--c.org/',
    'http://a_b.org/',
    'http://h.org\\',
    'http:///',
    'https://',
    'mailto:',
    'h',
    'httpx:',
    'hTTp://h.org/',
  );
  const href = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(start, path, query, fragment).map((parts) => parts.join('')) },
    { weight: 1, arbitrary: fc.string() },
  );
  const base = fc.constantFrom(
    'https://example.org',
    'http://h.org/',
    'http://h.org/a',
    'http://h.org/a/',
    'http://h.org/a/b/c.html?q=/x/#f',
    'http://h.org//a//b',
    'http://u:p@h.org:8080/x/y?',
    'http://h.org/?#',
    'http://[::1]/a/b',
    'http://H.org/%7e/é?x#y',
    'http://bücher.de/a',
    'about:blank',
    'no url',
    'data:text/html,x',
    'file:///a/b',
    'http://h.org/a/..;/b',
    'http://h.org/a?b#',
    'http://h.org/x:y/z',
  );

  function byTheStandard(link: string, from: string): string | null {
    const url = parseUrl(link, from);
    if (url === null) return null;
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  }

  test('leaves out an href of 10 MB, with or without a scheme', () => {
    const long = 'a'.repeat(10_000_000);
    const { join, joinWithoutFragment } = urlJoiner('http://a.example/');
    for (const link of [long, `/${long}`, `http://a.example/${long}`, `${long}:`, '/'.repeat(10_000_000)]) {
      expect([join(link), joinWithoutFragment(link)]).toEqual([null, null]);
    }
  });

  test('gives what the URL parser gives', () => {
    fc.assert(
      fc.property(href, base, (link, from) => {
        const expected = byTheStandard(link, from);
        expect(urlJoiner(from).join(link)).toBe(expected);
        expect(urlJoiner(from).joinWithoutFragment(link)).toBe(expected?.replace(/#.*/s, '') ?? null);
      }),
      { numRuns: 10_000 },
    );
  });
});

test('the URLs of a page are bounded together, as by a base of megabytes', () => {
  const joiner = urlJoiner(`http://a.example/${'b'.repeat(10_000_000)}/`);
  for (let n = 0; n < 6; n++) expect(joiner.join(String(n))).toHaveLength(10_000_019);
  expect(() => joiner.join('6')).toThrow('more than 64 MB together');
  expect(() => joiner.joinWithoutFragment('6')).toThrow('more than 64 MB together');
});

test('a link that is no URL costs no exception', () => {
  let made = 0;
  class CountedUrl extends URL {
    constructor(href: string, base?: string) {
      made += 1;
      super(href, base);
    }
  }
  vi.stubGlobal('URL', CountedUrl);
  const bad = ['//[', 'http://xn--', '//a b/', '//[é', 'http://é b', '//a:99999999/'];
  expect(bad.map((href) => parseUrl(href, 'http://bücher.example/'))).toEqual(bad.map(() => null));
  expect(made).toBe(0);
  vi.unstubAllGlobals();
});

test('the parser is asked whether it reads a URL in letters of any kind', () => {
  const part = fc.constantFrom(
    ...[
      'http://',
      '//',
      '/',
      'é',
      'ü.example',
      'Ā',
      '％41',
      '\ud800',
      '\u00ad',
      '[::1]',
      ':80',
      ':',
      '\\',
      ' ',
      '\t',
      '%',
      'a',
      '@',
      '?',
      '#',
      'data:',
      'x://',
    ],
  );
  const href = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(href, fc.constantFrom(undefined, 'http://bücher.example/é', 'x:é'), (url, base) => {
      let expected: string | undefined;
      try {
        expected = new URL(url, base).href;
      } catch {}
      expect(parseUrl(url, base)?.href).toBe(expected);
    }),
    { numRuns: 5_000 },
  );
});
