/** css(): Scrapy's pseudo-elements, scopes and order, over htmlparser2's tree. */
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.js';
import { Request } from '../../../src/http/message/request.js';
import { Response } from '../../../src/http/message/response.js';

function page(html: string, type = 'text/html; charset=utf-8'): Response {
  const url = 'https://example.org/a/page.html';
  const request = new Request(url);
  return new Response({
    url,
    status: 200,
    headers: { 'content-type': type },
    body: Buffer.from(html),
    request,
  });
}

const quotes = page(`<html><head><title>Quotes &amp; more</title></head><body>
  <div class="quote" id="q1"><span class="text">One <b>bold</b> two</span><small class="author">Ann</small>
    <a class="tag" href="/t/1">t1</a><a class="tag" href="/t/2">t2</a></div>
  <div class="quote" id="q2"><span class="text">Only é &lt; text</span></div>
  <table id="outer"><tr id="row"><td>1</td><td>2</td></tr></table>
  <p id="price">EUR 12.50, was 15.00 &amp; up</p></body></html>`);

describe('css', () => {
  test('::text gives the text nodes directly in an element, and with a blank or *::text after it those below too, as in Scrapy', () => {
    expect(quotes.css('#q1 .text::text').getAll()).toEqual(['One ', ' two']);
    for (const all of ['#q1 .text *::text', '#q1 .text ::text', '#q1 .text::text, #q1 .text *::text'])
      expect(quotes.css(all).getAll()).toEqual(['One ', 'bold', ' two']);
    for (const name of ['href', '"href"', "'HREF'", ' href '])
      expect(page('<a href=/x>').css(`a::attr(${name})`).get()).toBe('/x');
    expect(quotes.css('#q1 .text > *::text').getAll()).toEqual(['bold']);
    expect(page('<a class=k href=/x><b href=/y>').css('.k ::attr(href)').getAll()).toEqual(['/x', '/y']);
    expect(quotes.css('#q1 .text').css('::text').getAll()).toEqual(['One ', 'bold', ' two']);
    expect(quotes.css('#q2 .text::text').get()).toBe('Only é < text');
  });

  test('text of elements within each other comes in document order', () => {
    expect(page('<b>1<b>2<b>3</b>4</b>5</b>').css('b::text').getAll()).toEqual(['1', '2', '3', '4', '5']);
  });

  test('::attr gives attributes, of those elements that have it', () => {
    expect(quotes.css('a::attr(href)').getAll()).toEqual(['/t/1', '/t/2']);
    expect(quotes.css('div::attr(ID)').getAll()).toEqual(['q1', 'q2']);
    expect(quotes.css('a::attr(title)').get()).toBeNull();
    expect(page('<a href>').css('a::attr(href)').get()).toBe('');
    expect(page('<a>').css('a::attr(constructor), a::attr(__proto__)').getAll()).toEqual([]);
  });

  test('branches of a selector may take different things, in document order', () => {
    const mixed = page('<img src="1"><a href="2">x</a><img src="3"><a href="4">y</a>');
    expect(mixed.css('a::attr(href), img::attr(src)').getAll()).toEqual(['1', '2', '3', '4']);
    expect(mixed.css('a::text, a::attr(href)').getAll()).toEqual(['2', 'x', '4', 'y']);
    expect(mixed.css('a, img::attr(src)').getAll()).toEqual([
      '1',
      '<a href="2">x</a>',
      '3',
      '<a href="4">y</a>',
    ]);
    expect(mixed.css('a[href="a,b"], a[href="4"]').length).toBe(1);
  });

  test('title::text is the same with a tree and without', () => {
    const html = '<title>A &amp; B</title><svg><title>icon</title></svg><title></title><title>x < y &amp; z';
    const tree = page(html);
    tree.css('*');
    expect(page(html).css('title::text').getAll()).toEqual(tree.css('title::text').getAll());
    expect(quotes.css('title::text').get()).toBe('Quotes & more');
  });

  test('relative to an element, the element itself may match and nothing outside counts', () => {
    const row = quotes.css('#row');
    expect(row.css('td::text').getAll()).toEqual(['1', '2']);
    expect(row.css('#row').length).toBe(1);
    expect(row.css('tr td').length).toBe(2);
    expect(row.css('table td').length).toBe(0);
    expect(row.css('tr > td:first-child::text').getAll()).toEqual(['1']);
    expect(quotes.css('#outer').css('table td').length).toBe(2);
    expect(quotes.css('a').css('::attr(href)').getAll()).toEqual(['/t/1', '/t/2']);
  });

  test('an answer under one root does not colour that under another', () => {
    const nested = page('<section><div id="i"><p>x</p></div></section>');
    expect(nested.css('#i').css('section p').length).toBe(0);
    expect(nested.css('section p').length).toBe(1);
    nested.$('section').addClass('new');
    expect(nested.css('.new p').length).toBe(1);
  });

  test('nests, each result within its own element', () => {
    const rows = [...quotes.css('div.quote')].map((quote) => ({
      text: quote.css('span.text::text').get(),
      author: quote.css('small.author::text').get(),
      tags: quote.css('a.tag::text').getAll(),
    }));
    expect(rows).toEqual([
      { text: 'One ', author: 'Ann', tags: ['t1', 't2'] },
      { text: 'Only é < text', author: null, tags: [] },
    ]);
    expect(quotes.css('div.quote').css('a').length).toBe(2);
    expect(quotes.css('a::text').css('b').length).toBe(0);
  });

  test('knows the pseudo-classes of css-select', () => {
    expect(quotes.css('a:not([href$="1"])::text').getAll()).toEqual(['t2']);
    expect(quotes.css('div:has(small)').attr('id')).toBe('q1');
    expect(quotes.css('td:nth-child(2)::text').get()).toBe('2');
    expect(quotes.css('p:contains("was")').length).toBe(1);
    expect(page('<input type=text><input type=radio>').css('input:text').length).toBe(1);
  });

  test('matches names in any case in HTML, exactly in XML', () => {
    expect(page('<DIV Class="x">y</DIV>').css('DIV[CLASS=x]::text').get()).toBe('y');
    const feed = page(
      '<rss><channel><item><pubDate>d</pubDate><link>http://e.org/1</link><title><![CDATA[a & b]]></title></item></channel></rss>',
      'application/rss+xml',
    );
    expect(feed.css('item pubDate::text').get()).toBe('d');
    expect(feed.css('item pubdate').length).toBe(0);
    expect(feed.css('item link::text').get()).toBe('http://e.org/1');
    expect(feed.css('item > title::text').get()).toBe('a & b');
  });

  test.each([
    'a[',
    'a::before',
    'a::attr',
    'a::attr()',
    'a::text(1)',
    'a::text b',
    'a:frobnicate',
    '',
    'a,,b',
    '> > a',
    'h1:text',
    '.price:text',
    'a:attr(href)',
    'a@href',
    'a/b',
    'a::attr("a b")',
    ')',
  ])('refuses %j, naming it', (selector) => {
    for (const subject of [quotes, quotes.css('div'), page('', 'image/png')]) {
      expect(() => subject.css(selector)).toThrow(UsageError);
      expect(() => subject.css(selector)).toThrow(JSON.stringify(selector));
    }
  });
});

describe('a selector list', () => {
  test('get gives the outer HTML of an element, and null or the fallback where nothing matched', () => {
    expect(quotes.css('#q2').get()).toBe(
      '<div class="quote" id="q2"><span class="text">Only é &lt; text</span></div>',
    );
    expect(quotes.css('.none').get()).toBeNull();
    expect(quotes.css('.none').get('unknown')).toBe('unknown');
    expect(quotes.css('.none').getAll()).toEqual([]);
  });

  test('attr gives an attribute of the first element', () => {
    expect(quotes.css('a').attr('href')).toBe('/t/1');
    expect(quotes.css('a').attr('HREF')).toBe('/t/1');
    expect(quotes.css('a').attr('title')).toBeNull();
    expect(quotes.css('a').attr('constructor')).toBeNull();
    expect(quotes.css('.none').attr('href')).toBeNull();
    expect(quotes.css('a::text').attr('href')).toBeNull();
  });

  test('iterates, counts, and gives one by its index', () => {
    const tags = quotes.css('a.tag');
    expect(tags.length).toBe(2);
    expect([...tags].map((tag) => tag.length)).toEqual([1, 1]);
    expect(tags.at(-1).attr('href')).toBe('/t/2');
    expect(tags.at(5).get()).toBeNull();
  });

  test('re gives whole matches, or all groups, or the group named extract', () => {
    const price = quotes.css('#price::text');
    expect(price.re(/[\d.]+/)).toEqual(['12.50', '15.00']);
    expect(price.re('(\\d+)\\.(\\d+)')).toEqual(['12', '50', '15', '00']);
    expect(price.re(/was (?<extract>\S+)/)).toEqual(['15.00']);
    expect(price.re(/(USD)?12/)).toEqual(['']);
    expect(price.reFirst(/\d+/y)).toBe('12');
    expect(price.reFirst(/\d+/)).toBe('12');
    expect(price.reFirst(/USD/)).toBeNull();
    expect(price.reFirst(/USD/, 'none')).toBe('none');
    expect(page('<p>&amp;eacute; &amp;amp;').css('p::text').re(/.+/)).toEqual(['é &amp;']);
  });
});
