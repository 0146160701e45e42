/** `$` on pages that make its selectors slow. */
import { describe, expect, test } from 'vitest';
import { Request } from '../../../../src/http/message/request.js';
import { Response } from '../../../../src/http/message/response.js';

function page(html: string): Response {
  const url = 'https://example.org/';
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  return new Response({ url, status: 200, headers, body: Buffer.from(html), request: new Request(url) });
}

const COUNT = 60_000;
const siblings = page(`<html><body>${'<p></p>'.repeat(COUNT)}</body></html>`);
const roots = page('<p></p>'.repeat(COUNT));
const deep = page(`${'<div>'.repeat(500)}${'<b>x</b>'.repeat(1_000)}${'</div>'.repeat(500)}`.repeat(10));
const table = page(`<table>${'<tr><td>1</td><td class=x>2</td></tr>'.repeat(1_000)}</table>`);

describe('what would block the node is refused by name', () => {
  const refusal = (named: string) =>
    expect.objectContaining({ code: 'selector_cost', message: expect.stringContaining(named) });

  test('the texts of elements within each other', () => {
    const { $ } = page(`${'<div>'.repeat(500)}${'</p>'.repeat(130_000)}`);
    expect(() => $('div').each((_, div) => void $(div).text())).toThrow(refusal('text()'));
  });

  test('the HTML of elements within each other, by $ and by get()', () => {
    const nested = `${'<div>'.repeat(500)}${'</p>'.repeat(60_000)}`;
    const { $ } = page(nested);
    expect(() => $('div').each((_, div) => void $(div).html())).toThrow(refusal('its HTML'));
    expect(() =>
      page(nested)
        .css('div')
        .map((div) => div.get()),
    ).toThrow(refusal('its HTML'));
  });

  test.each([
    ['p ~ p', siblings],
    ['p:nth-child(2n)', siblings],
    ['p:not(:nth-last-of-type(2))', siblings],
    ['p:has(+ p)', siblings],
    ['div:has(div:has(i))', deep],
  ])('%s of a large part of the page', (selector, { $ }) => {
    const part = $('body, div');
    expect(() => part.find(selector)).toThrow(refusal(`find(${JSON.stringify(selector)})`));
    expect(() => part.children().filter(selector)).toThrow(refusal(`filter(${JSON.stringify(selector)})`));
  });

  test('a selector of the whole page that only Cheerio knows', () => {
    expect(() => siblings.$('p:nth-child(2n):eq(3)')).toThrow(refusal('p:nth-child(2n):eq(3)'));
    expect(() => roots.$('p:eq(3)')).toThrow(refusal('p:eq(3)'));
  });

  test('a method that compares all elements of a large set', () => {
    const set = siblings.$('p');
    expect(() => set.siblings()).toThrow(refusal('siblings()'));
    for (const method of ['nextAll', 'nextUntil', 'prevAll', 'prevUntil'] as const) {
      expect(() => set[method]()).toThrow(refusal(`${method}()`));
      expect(set.first()[method]().length).toBe(method.startsWith('next') ? COUNT - 1 : 0);
    }
    expect(() => set.map((n) => n)).toThrow(refusal('map()'));
    expect(() => siblings.$('body').find('b')).toThrow(refusal('find("b")'));
  });
});

describe('a selector of the whole page', () => {
  test.each([
    ['many siblings', siblings],
    ['many roots', roots],
  ])('takes linear time on a page of %s', (_what, { $ }) => {
    expect($('p').length).toBe(COUNT);
    expect($('p:nth-child(2n)').length).toBe(COUNT / 2);
    expect($('p ~ p').length).toBe(COUNT - 1);
    expect($('p + p').length).toBe(COUNT - 1);
    expect($('p').eq(2).next('p').length).toBe(1);
    expect($('p').filter((n) => n < 3).length).toBe(3);
    expect($('<ul><li>new</li></ul>').find('li:last-child').text()).toBe('new');
  });

  test('works as ever on other large pages', () => {
    const { $ } = table;
    expect($('tr:nth-child(2n) td.x').length).toBe(500);
    expect($('tr').first().find('td:nth-child(2)').text()).toBe('2');
    expect($('tr').find('td:eq(1)').text()).toBe('2');
    expect(
      $('td')
        .map((_, cell) => $(cell).text())
        .get().length,
    ).toBe(2_000);
    expect(deep.$('div b').length).toBe(10_000);
    expect(deep.$('div:has(b)').length).toBeGreaterThan(0);
  });

  test('works as ever for each row of a table that is too long for a selector of all of it', () => {
    const { $ } = page(`<table>${'<tr><td>1<td class=x>2</tr>\n'.repeat(8_000)}</table>`);
    expect(() => $('table').find('tr:nth-child(2n)')).toThrow('was refused');
    expect($('tr:nth-child(2n)').length).toBe(4_000);
    const cells = $('tr').map(
      (_, row) => $(row).find('td:nth-child(2)').text() + $(row).children('.x').text(),
    );
    expect(new Set(cells.get())).toEqual(new Set(['22']));
    expect(cells.length).toBe(8_000);
  });

  test('that is not valid is an error of Cheerio', () => {
    expect(() => roots.$('p:frobnicate')).toThrow('frobnicate');
  });
});
