/** Items from selectors and processors. */
import { expect, expectTypeOf, test } from 'vitest';
import { Request } from '../../src/http/message/request.js';
import { Response } from '../../src/http/message/response.js';
import { field, loadItem } from '../../src/spider/item-loader.js';
import {
  absoluteUrl,
  decimalComma,
  each,
  first,
  join,
  number,
  orElse,
  trim,
} from '../../src/spider/item-processors.js';

const page = new Response({
  url: 'https://shop.example/a/b',
  status: 200,
  request: new Request('https://shop.example/a/b'),
  headers: { 'content-type': 'text/html' },
  body: Buffer.from(`<h1> A  <b>big</b> lamp </h1><p class=price>from $1,234.50</p><i class=tag> x </i><i class=tag></i><i class=tag>y</i>
    <img src="../lamp.png"><table><tr><td>one</td><td>1</td></tr><tr><td>two</td></tr></table>`),
});

test('fields are selected, processed and typed', () => {
  const item = loadItem(page, {
    name: field('h1::text', join(), trim),
    price: field('.price::text', first, number),
    tags: field('.tag::text', each(trim)),
    image: field('img::attr(src)', first, absoluteUrl),
    raw: field('td::text'),
    stock: field('.stock::text', first, number, orElse(0)),
    missing: field('.no::text', first),
    shop: 'example',
    length: (within) => within.css('td').length,
  });
  expect(item).toEqual({
    name: 'A lamp',
    price: 1234.5,
    tags: ['x', 'y'],
    image: 'https://shop.example/lamp.png',
    raw: ['one', '1', 'two'],
    stock: 0,
    missing: null,
    shop: 'example',
    length: 3,
  });
  expectTypeOf(item.price).toEqualTypeOf<number | null>();
  expectTypeOf(item.tags).toEqualTypeOf<string[]>();
  expectTypeOf(item.stock).toEqualTypeOf<number>();
});

test('a part of the page gives an item of its own', () => {
  const rows = [...page.css('tr')].map((row) =>
    loadItem(
      page,
      { name: field('td::text', first), n: field('td + td::text', first, number, orElse(-1)) },
      row,
    ),
  );
  expect(rows).toEqual([
    { name: 'one', n: 1 },
    { name: 'two', n: -1 },
  ]);
});

test('what a processor throws names the field', () => {
  const broken = () =>
    loadItem(page, {
      ok: 1,
      name: field('h1::text', () => {
        throw new TypeError('no such name');
      }),
    });
  expect(broken).toThrow('name: no such name');
  expect(broken).toThrow(expect.objectContaining({ code: 'invalid_item' }));
});

test.each([
  ['1,234.50 $', 1234.5],
  ['12,345,678', 12345678],
  ["1'000.5", 1000.5],
  ['1 234', 1234],
  ['5.', 5],
  ['.5 kg', 0.5],
  ['-3', -3],
  ['−3 °C', -3],
  ['12,5', 12],
  ['none', null],
  [undefined, null],
  ['', null],
  [null, null],
] as const)('number: %s is %s', (text, value) => {
  expect(number(text)).toBe(value);
});

test.each([
  ['1.234,50 €', 1234.5],
  ['12,5', 12.5],
  ['ab 7', 7],
  [null, null],
] as const)('decimalComma: %s is %s', (text, value) => {
  expect(decimalComma(text)).toBe(value);
});

test('processors pass null on, and a link that is none is null', () => {
  expect([trim(null), number(null), absoluteUrl(null, page)]).toEqual([null, null, null]);
  expect(absoluteUrl('http://[', page)).toBeNull();
  expect(first([null, '', 'a'])).toBe('a');
  expect(first([])).toBeNull();
  expect(first([0])).toBe(0);
  expect(orElse('x')('')).toBe('x');
  expect(orElse([])([])).toEqual([]);
  expect(orElse(1)(false)).toBe(false);
});
