/** Links, titles and base by the HTML standard, where browsers find them, and on pages that mean harm. */
import { describe, expect, it } from 'vitest';
import { Request } from '../../../../src/http/message/request.js';
import { Response } from '../../../../src/http/message/response.js';

const url = 'https://example.org/d/page.html';

function page(body: string, type = 'text/html; charset=utf-8'): Response {
  return new Response({
    url,
    status: 200,
    headers: { 'content-type': type },
    body: Buffer.from(body),
    request: new Request(url),
  });
}

/** By the streaming pass and by the tree, which must agree. */
function both<T>(body: string, ask: (response: Response) => T): T {
  const walked = page(body);
  walked.css('*');
  const streamed = ask(page(body));
  expect(ask(walked)).toEqual(streamed);
  return streamed;
}

/** So that a control character does not make a short page binary data. */
const padding = '<p>text</p>'.repeat(20);

const paths = (body: string) =>
  both(body, (response) => response.links()).map((link) => new URL(link).pathname + new URL(link).search);
const titles = (body: string) => both(body, (response) => response.css('title::text').getAll());
const link = '<a href="/no">no</a>';
const yes = '<a href="/yes">';

describe('a link is found', () => {
  it.each([
    ['behind a comment that --!> ends', `<!-- --!>${yes}`],
    ['behind comments without text', `<!--><!--->${yes}`],
    ['behind an empty declaration', `<!>${yes}`],
    ['behind a declaration that is none', `<!-x>${yes}`],
    ['in the style and script of SVG', `<svg><style>${yes}</style><script>${yes}</script></svg>`],
    ['in SVG', '<svg><a href="/yes"/></svg>'],
    ['behind a self-closing title of SVG', `<svg><title/></svg>${yes}`],
    ['where HTML ends SVG that has no end', `<svg><g><p>${yes}<svg></p>`],
    ['behind a processing instruction', `<?php echo "<a href='/no'>"; ?>${yes}`],
    ['behind an end tag that is none', `</ ${link.slice(1)}${yes}`],
    ['behind a quoted > in an end tag', `</p x="${link}">${yes}`],
    ['where an attribute follows a quote at once', '<a class="x"href="/yes">'],
    ['behind a CDATA section of SVG', `<svg><![CDATA[${link}]]></svg>${yes}`],
    ['in noscript', `<noscript>${yes}</noscript>`],
  ])('%s', (_, body) => {
    expect([...new Set(paths(body))]).toEqual(['/yes']);
  });
});

describe('no link is found', () => {
  it.each([
    ['in a script within a comment within a script', `<script><!-- <script> </script> ${link} --></script>`],
    ['in a script that ends itself', `<script/>${link}</script>`],
    ['in a textarea that ends itself', `<textarea/>${link}</textarea>`],
    ['in a style that ends itself', `<style />${link}</style>`],
    ['in a title that ends itself', `<title/>${link}</title>`],
    [
      'in iframe, noembed and noframes',
      `<iframe>${link}</iframe><noembed>${link}</noembed><noframes>${link}</noframes>`,
    ],
    ['behind plaintext', `<plaintext></plaintext>${link}`],
    [
      'in a script with control characters for its end tag',
      `<script>x<\x0fscript>\x1c/script>${link}</script>`,
    ],
    ['in a title with control characters for its end tag', `<title>x\x1c/title>${link}</title>`],
    ['in a tag that the page ends within', `<a href="/no"`],
  ])('%s', (_, body) => {
    expect(paths(body)).toEqual([]);
  });
});

describe('a title', () => {
  it.each([
    ['ends at an end tag with a slash', '<title>a</title/>b', ['a']],
    ['has U+FFFD for NUL', `<title>a\0b</title>${padding}`, ['a\ufffdb']],
    ['has one line break for CR LF', '<title>a\r\nb\rc&#13;</title>', ['a\nb\nc\r']],
    ['has its references decoded beside a <', '<title>a<b &amp; c</title>', ['a<b & c']],
    ['holds tags as text', '<title><b>x</b></title>', ['<b>x</b>']],
    ['of SVG holds markup', '<svg><title>a<b>c</b></title></svg>', ['a']],
    ['is one text around what is nothing', '<svg><title>a</>b</x>c<!---->d', ['abc', 'd']],
    ['is read 600 elements deep', `${'<div>'.repeat(600)}<title>deep</title>`, ['deep']],
    [
      'is read 600 elements deep in SVG, where text goes to the deepest',
      `<svg>${'<g>'.repeat(600)}<title>x`,
      [],
    ],
  ])('%s', (_, body, expected) => {
    expect(titles(body)).toEqual(expected);
  });
});

it('an href has U+FFFD for NUL', () => {
  expect(both(`<a href="/a\0b">${padding}`, (response) => response.links())).toEqual([
    'https://example.org/a%EF%BF%BDb',
  ]);
});

describe('links start from <base>', () => {
  it.each([
    ['without quotes', '<base href=/z/>', '/z/x'],
    ['beyond 4,096 characters', `${' '.repeat(5_000)}<base href="/z/">`, '/z/x'],
    ['with references and white space', '<base href=" /z&amp;y/ ">', '/z&y/x'],
    ['with a slash for a space', '<base/href=/z/>', '/z/x'],
    ['behind a quoted >', '<base title="a>b" href="/z/">', '/z/x'],
    ['by the first of two href', '<base href="/z/" href="/no/">', '/z/x'],
    ['by the first base that has an href', '<base target=_top><base href="/z/"><base href="/no/">', '/z/x'],
    ['behind a comment that --!> ends', '<!-- --!><base href="/z/">', '/z/x'],
    ['in the body, behind the link', '<body><p><base href="/z/">', '/z/x'],
  ])('%s', (_, head, expected) => {
    expect(paths(`${head}<a href="x">`)).toEqual([expected]);
    expect(paths(`<a href="x">${head}`)).toEqual([expected]);
    expect(page(head).urljoin('x')).toBe(`https://example.org${expected}`);
  });

  it.each([
    ['in a comment', '<!-- <base href="/no/"> -->'],
    ['in a script', '<script>"<base href=/no/>"</script>'],
    ['in a style', '<style><base href=/no/></style>'],
    ['in a title', '<title><base href=/no/></title>'],
    ['in a textarea', '<textarea><base href=/no/></textarea>'],
    ['in a template', '<template><base href=/no/></template>'],
    ['in SVG', '<svg><base href=/no/></svg>'],
    ['in an attribute', `<p title='<base href="/no/">'>`],
    ['of another name', '<base xhref="/no/"><basefont href="/no/">'],
    ['that is a script', '<base href="javascript:1">'],
    ['that is data', '<base href="data:text/html,hi/">'],
    ['that is no URL', '<base href="http://[/">'],
  ])('but not one %s', (_, head) => {
    expect(paths(`${head}<a href="x">`)).toEqual(['/d/x']);
    expect(page(head).urljoin('x')).toBe('https://example.org/d/x');
  });
});

describe('a page that means harm is read whole', () => {
  const n = 60_000;
  it.each([
    ['<div>'],
    ['<table><tr><td>'],
    ['<ul><li>'],
    ['<p><span>'],
    ['<b><i>'],
    ['<a>'],
    ['<svg>'],
    ['<svg><g>'],
    ['<math><mi>'],
    ['<svg><desc>'],
    ['<button><select><option>'],
    ['<script></script>'],
    ['<title></title>'],
    ['<p></x>'],
    ['</p>'],
    ['<div></p></div>'],
    ['<!---->'],
    ['<!>'],
  ])('of %j over and over', (piece) => {
    expect(paths(`${piece.repeat(n)}${yes}`)).toEqual(['/yes']);
  });

  it.each([
    ['<div>', '</div>'],
    ['<x>', '</y>'],
    ['<svg><g>', '</x>'],
    ['<svg><desc><g>', '</svg>'],
    ['<p><b>', '</p>'],
  ])('of %j, then as many %j', (open, close) => {
    expect(paths(`${open.repeat(n)}${close.repeat(n)}${yes}`)).toEqual(['/yes']);
  });

  it('of XML nested deeper than any real document is read down to there', () => {
    const feed = page(`<rss><title>t</title>${'<x>'.repeat(100_000)}`, 'application/rss+xml');
    expect(feed.css('title::text').getAll()).toEqual(['t']);
    expect(feed.css('x').length).toBeGreaterThan(500);
  });
});
