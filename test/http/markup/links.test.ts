/** links(): the streaming pass and the tree agree, and hostile pages are bounded. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.js';
import type { LinkOptions } from '../../../src/http/markup/links.js';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';

const site = 'https://example.org/docs/guide/page.html?v=1';

function page(html: string | Buffer, url = site, type = 'text/html; charset=utf-8'): Response {
  const request = new Request(url);
  return new Response({
    url,
    status: 200,
    headers: { 'Content-Type': type },
    body: typeof html === 'string' ? Buffer.from(html) : html,
    request,
  });
}

/** By the streaming pass and by the tree, which must agree. */
function links(html: string, options?: LinkOptions, url = site): string[] {
  const streamed = page(html, url).links(options);
  const walked = page(html, url);
  walked.css('*');
  expect(walked.links(options)).toEqual(streamed);
  return streamed;
}

describe('links', () => {
  test('are absolute, without fragment, each once, in document order', () => {
    const html = `<a href="b.html#x">b</a> <a href=/c>c</a> <area href='../d'> <a name="e">no href</a>
      <a href="b.html#y">b again</a> <link href="f.css"> <a href="//other.org/g">g</a> <a href="?q">h</a> <A HREF="#">self</A>`;
    expect(links(html)).toEqual([
      'https://example.org/docs/guide/b.html',
      'https://example.org/c',
      'https://example.org/docs/d',
      'https://other.org/g',
      'https://example.org/docs/guide/page.html?q',
      'https://example.org/docs/guide/page.html?v=1',
    ]);
  });

  test('start from <base>, wherever the links stand', () => {
    expect(links('<a href="x">x</a><base href="/root/"><a href="y">y</a>')).toEqual([
      'https://example.org/root/x',
      'https://example.org/root/y',
    ]);
  });

  test('of other schemes are left out, as are those that are no URL', () => {
    const html = [
      'mailto:a@b.c',
      'javascript:void(0)',
      'java\nscript:x',
      'tel:1',
      'data:,x',
      'ftp://e.org/',
      'http://',
      'http://[::1',
      ' MAILTO:x',
    ]
      .map((href) => `<a href="${href}">`)
      .join('');
    expect(links(html)).toEqual([]);
  });

  test.each([
    ['tabs and line breaks', ' \n/a\tb\n ', 'https://example.org/ab'],
    ['entities', '/a?b=1&amp;c=2&lt=3&#x41;', 'https://example.org/a?b=1&c=2&lt=3A'],
    ['an international domain', 'http://bücher.example/ü', 'http://xn--bcher-kva.example/%C3%BC'],
    ['userinfo', 'http://user:pw@example.org/a', 'http://user:pw@example.org/a'],
    ['dot segments', './../x/./../y', 'https://example.org/docs/y'],
    ['dots in disguise', '%2e%2E/y', 'https://example.org/docs/y'],
    ['more steps up than there are', '../../../../../z', 'https://example.org/z'],
    ['backslashes', '\\\\other.org\\a', 'https://other.org/a'],
    ['a default port', 'https://example.org:443/', 'https://example.org/'],
    ['an upper-case host', 'HTTPS://EXAMPLE.ORG', 'https://example.org/'],
    ['a colon in the path', '/wiki/Talk:Main', 'https://example.org/wiki/Talk:Main'],
    ['an address in hexadecimal', 'http://0x7f.1/', 'http://127.0.0.1/'],
  ])('with %s', (_, href, expected) => {
    expect(links(`<a href="${href}">x</a>`)).toEqual([expected]);
  });

  test('of duplicated attributes the first counts', () => {
    expect(links('<a href="/1" HREF="/2">')).toEqual(['https://example.org/1']);
  });

  test('in comments, scripts, styles, titles and textareas are no links', () => {
    const link = '<a href="/no">';
    const html = `<title>${link}</title><!-- ${link} --><script>"${link}"</script><style>${link}</style>
      <textarea>${link}</textarea><![CDATA[${link}]]><xmp>${link}</xmp><a href="/yes"><scripty>${'<a href="/too">'}`;
    expect(links(html)).toEqual(['https://example.org/yes', 'https://example.org/too']);
  });

  test('that are never closed, or cut off, are handled as the tree does', () => {
    expect(links('<p><a href="/a"><b><a href="/b">x<a href="/c')).toEqual([
      'https://example.org/a',
      'https://example.org/b',
    ]);
    expect(links('<a href="/a" <b>x</b> href="/b">')).toEqual(['https://example.org/a']);
    expect(links('<a href="/a>no end')).toEqual([]);
  });

  test('can be chosen by allow, deny and selector', () => {
    const html =
      '<nav><a href="/n/1">1</a></nav><main><a href="/m/1">1</a><a href="/m/2">2</a><a href="//o.org/m/1">';
    const m1 = 'https://example.org/m/1';
    expect(links(html, { allow: '/m/\\d$', deny: /o\.org/ })).toEqual([m1, 'https://example.org/m/2']);
    expect(links(html, { allow: [/\/1$/g], deny: ['/n/', /o\.org/i] })).toEqual([m1]);
    expect(links(html, { selector: 'nav' })).toEqual(['https://example.org/n/1']);
    expect(links(html, { selector: 'nav, a[href$="2"]' })).toHaveLength(2);
    expect(links(html, { allow: [] })).toEqual([]);
    expect(() => page(html).links({ allow: '(' })).toThrow(UsageError);
    expect(() => page(html).links({ selector: 'a[' })).toThrow(/"a\["/);
  });

  test('of an expression that remembers where it was (g, y) are tested from the start each time', () => {
    const html = '<a href="/a1"><a href="/a2"><a href="/a3">';
    expect(links(html, { allow: /\/a/g })).toHaveLength(3);
  });

  test('follow what a spider changed in the tree', () => {
    const response = page('<nav><a href="/n">n</a></nav><a href="/m">m</a>');
    response.$('nav').remove();
    expect(response.links()).toEqual(['https://example.org/m']);
  });

  test.each([
    ['an image', 'image/png', '<a href="/x">'],
    ['JSON', 'application/json', '"<a href=/x>"'],
    [
      'binary data called HTML',
      'text/html',
      `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${'\0\x01\x02\x03<a href="/x">'.repeat(40)}`,
    ],
    ['a PDF called HTML', 'text/html', '%PDF-1.7 <a href="/x">'],
    ['nothing', 'text/html', ''],
  ])('of %s are none', (_, type, body) => {
    const response = page(body, site, type);
    expect(response.links()).toEqual([]);
    expect(response.css('a').length).toBe(0);
    expect(response.css('title::text').get()).toBeNull();
    expect(typeof response.text).toBe('string');
  });

  test('of a page with a stray control character are found', () => {
    expect(links(`<p>\0\x01</p>${'text '.repeat(300)}<a href="/x">`)).toEqual(['https://example.org/x']);
  });

  test('of a feed come from its own tree', () => {
    const rss = '<rss><item><title/><link>http://e.org/1</link><a href="/x"/></item></rss>';
    expect(page(rss, site, 'application/rss+xml').links()).toEqual(['https://example.org/x']);
  });
});

describe('on a hostile page', () => {
  test.each([
    ['40,000 nested tags', `${'<div>'.repeat(40_000)}<a href="/x">`, 1],
    ['40,000 nested links', '<a href="/x">'.repeat(40_000), 1],
    [
      '50,000 attributes',
      `<a ${Array.from({ length: 50_000 }, (_, i) => `a${i}=${i}`).join(' ')} href="/x">`,
      1,
    ],
    ['50,000 attributes of one name', `<a ${'href="/x" '.repeat(50_000)}>`, 1],
    ['100,000 links', Array.from({ length: 100_000 }, (_, i) => `<a href="/${i}">`).join('</a>'), 100_000],
    ['100,000 tags cut off', '<a href='.repeat(100_000), 0],
    ['100,000 comments opened', '<!--'.repeat(100_000), 0],
    ['an attribute without end', `<a href="${'x'.repeat(1_000_000)}`, 0],
    ['a million ampersands', `<a href="/x">${'&'.repeat(1_000_000)}`, 1],
  ])('%s', (_, html, count) => {
    expect(links(html)).toHaveLength(count);
  });

  test('nesting does not overflow what is asked of the tree', () => {
    const response = page(`<main>${'<div class="x">'.repeat(40_000)}deep`);
    expect(response.css('main div.x span').length).toBe(0);
    expect(response.css('main').get()).toContain('deep');
    expect(response.$('main').text()).toBe('deep');
    expect(response.css('main *::text').get()).toBe('deep');
  });
});

/** Markup as it is found: mostly right, in places broken. */
const piece = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        '/a',
        'b.html',
        '../c',
        '?d=1&amp;e=2',
        '#f',
        '//g.org/h',
        'http://i.org/&eacute;j',
        '&#47;k',
        '&notit;',
        '&amp',
        ' /l\n',
      )
      .map((href) => `<a href="${href}">`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '<a href=/u>',
      "<area href='/v' alt=x>",
      '<A HREF=w title="<a>">',
      '<a\nhref\n=\n"/x"/>',
      '<a href>',
      '<a/href="/y">',
      '<abbr href="/z">',
      '<a href=/q&amp=1&lt>',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '</a>',
      '<p>',
      '</p>',
      '<div class="x">',
      '</div>',
      '<br/>',
      '<table><tr><td>',
      '</table>',
      '<li>',
      '<option>',
      '<svg>',
      '</svg>',
      '<title>',
      '</title>',
      '<title/>',
      '<math><mi>',
      '<base href="/r/">',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '<script>',
      '</script>',
      '<style>',
      '</style >',
      '<textarea>',
      '</textarea>',
      '<xmp>',
      '</xmp>',
      '<!--',
      '-->',
      '--!>',
      '<!doctype html>',
      '<![CDATA[',
      ']]>',
      '<?php',
      '?>',
      '</ x>',
      '</1>',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'text',
      ' ',
      '\n',
      '&amp;',
      '&lt',
      'AT&T',
      '<',
      '>',
      '"',
      "'",
      '=',
      '&',
      '/',
      'é',
      '\ud83d\ude00',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);

test('the streaming pass finds what the tree holds, whatever the markup and its bytes: links, and titles', () => {
  const bytes = fc.oneof(
    { weight: 9, arbitrary: piece.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 4 }).map((raw) => Buffer.from(raw)) },
  );
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 30 }), (pieces) => {
      const html = Buffer.concat(pieces);
      const streamed = page(html);
      const walked = page(html);
      walked.css('*');
      expect(streamed.css('title::text').getAll()).toEqual(walked.css('title::text').getAll());
      expect(page(html).links()).toEqual(walked.links());
    }),
    { numRuns: 2_000 },
  );
});
