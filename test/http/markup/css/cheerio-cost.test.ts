/** Selectors of `$` on pages that make them slow. */
import { describe, expect, test } from 'vitest';
import { Request } from '../../../../src/http/message/request.js';
import { Response } from '../../../../src/http/message/response.js';

function page(html: string): Response {
  const url = 'https://example.org/';
  const headers = { 'content-type': 'text/html; charset=utf-8' };
  return new Response({ url, status: 200, headers, body: Buffer.from(html), request: new Request(url) });
}

const siblings = page('<p></p>'.repeat(30_000));
const deep = page(`${'<div>'.repeat(500)}${'<b>x</b>'.repeat(1_000)}${'</div>'.repeat(500)}`.repeat(10));
const table = page(`<table>${'<tr><td>1</td><td class=x>2</td></tr>'.repeat(5_000)}</table>`);

describe('a selector of $ that the page makes too costly is refused by name', () => {
  test.each([
    ['p ~ p', siblings],
    ['p:nth-child(2n)', siblings],
    ['p:not(:nth-last-of-type(2))', siblings],
    ['p:has(+ p)', siblings],
    ['div:has(div:has(i))', deep],
  ])('%s', (selector, { $ }) => {
    const refusal = { code: 'selector_cost', message: expect.stringContaining(selector) };
    expect(() => $(selector)).toThrow(expect.objectContaining(refusal));
    expect(() => $('p').first().is(selector)).toThrow(expect.objectContaining(refusal));
    expect(() => $('body').find(selector)).toThrow(expect.objectContaining(refusal));
  });
});

describe('other selectors of $ work as ever', () => {
  test('on a page of many siblings', () => {
    const { $ } = siblings;
    expect($('p').length).toBe(30_000);
    expect($('p + p').length).toBe(29_999);
    expect($('p:first-child').length).toBe(1);
    expect($('p').eq(2).next('p').length).toBe(1);
    expect($('p').filter((n) => n < 3).length).toBe(3);
  });

  test('on a long table', () => {
    const { $ } = table;
    expect($('tr:nth-child(2n) td.x').length).toBe(2_500);
    expect($('tr').first().find('td:nth-child(2)').text()).toBe('2');
    expect($('table td:contains(2)').length).toBe(5_000);
    expect($('<ul><li>new</li></ul>').find('li:last-child').text()).toBe('new');
  });

  test('on a deep page', () => {
    expect(deep.$('div b').length).toBe(10_000);
    expect(deep.$('div:has(b)').length).toBeGreaterThan(0);
  });

  test('and a selector that is not valid is an error of Cheerio', () => {
    expect(() => siblings.$('p:frobnicate')).toThrow('frobnicate');
  });
});
