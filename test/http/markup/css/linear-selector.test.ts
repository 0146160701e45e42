/** Selectors matched in linear time select what css-select itself does, and end on pages made to be slow. */
import { selectAll } from 'css-select';
import { parse } from 'css-what';
import fc from 'fast-check';
import { DomUtils } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { compileLinear } from '../../../../src/http/markup/css/linear-selector.js';
import { type AnyNode, type Element, parseTree } from '../../../../src/http/markup/markup-tree.js';
import { Request } from '../../../../src/http/message/request.js';
import { Response } from '../../../../src/http/message/response.js';
import { NodeBudget } from '../../../../src/http/node-budget.js';

const compounds = [
  'a',
  'b',
  'i',
  '*',
  '.x',
  '[y]',
  'a.x',
  ':not(a)',
  ':is(a, b i)',
  'b:first-child',
  'i:last-child',
];
const pseudos = [
  ':nth-child(2n)',
  ':nth-child(odd)',
  ':nth-last-child(1)',
  ':nth-of-type(2)',
  ':nth-last-of-type(-n+2)',
  ':first-of-type',
  ':last-of-type',
  ':only-of-type',
  ':only-child',
  ':has(a)',
  ':has(> b)',
  ':has(+ a)',
  ':has(~ i)',
  ':has(a b, > i)',
  ':has(> a > b)',
  ':has(+ a b)',
  ':has(:nth-child(2))',
  ':not(:has(a))',
  ':not(a b)',
  ':not(a ~ b)',
  ':is(a + b, i ~ i)',
  ':empty',
  ':contains("t")',
  ':root',
];
const compound = fc.oneof(
  fc.constantFrom(...compounds),
  fc.tuple(fc.constantFrom('a', 'b', '*'), fc.constantFrom(...pseudos)).map((parts) => parts.join('')),
);
const selector = fc
  .array(fc.tuple(fc.constantFrom(' ', ' > ', ' + ', ' ~ '), compound), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.map(([combinator, part], index) => (index === 0 ? part : combinator + part)).join(''),
  );
const html = fc
  .array(
    fc.constantFrom(
      '<a>',
      '<b>',
      '<i>',
      '<a class=x>',
      '<b y>',
      '</a>',
      '</b>',
      '</i>',
      't',
      '<!---->',
      '<i></i>',
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

function matched(test: (element: Element) => boolean, root: AnyNode): Element[] {
  return DomUtils.findAll(test, [root]);
}

function page(body: string): Response {
  const url = 'https://example.org/';
  const headers = { 'content-type': 'text/html' };
  return new Response({ url, status: 200, headers, body: Buffer.from(body), request: new Request(url) });
}

describe('a selector matched in linear time', () => {
  it('selects what css-select does, in any tree', () => {
    fc.assert(
      fc.property(html, selector, (markup, text) => {
        const { document } = parseTree(markup, false, new NodeBudget());
        const expected = selectAll<AnyNode, Element>(text, document);
        expect(matched(compileLinear(text, parse(text), null, false), document)).toEqual(expected);
      }),
      { numRuns: 4_000 },
    );
  });

  it('stays within the element it is relative to', () => {
    const { document } = parseTree('<b><a id=r><b><i></i></b></a></b><i></i>', false, new NodeBudget());
    const root = DomUtils.findOne(({ attribs }) => attribs.id === 'r', [document])!;
    const select = (text: string) =>
      matched(compileLinear(text, parse(text), root, false), root).map(({ name }) => name);
    expect(select('b i')).toEqual(['i']);
    expect(select('a i')).toEqual(['i']);
    expect(select('b a i')).toEqual([]);
    expect(select('b ~ i')).toEqual([]);
  });

  it.each([':nth-child(x)', ':nth-child', ':has()', ':frobnicate', 'a:nth-of-type(2n+)'])(
    'refuses %j',
    (text) => {
      expect(() => compileLinear(text, parse(text), null, false)).toThrow();
    },
  );
});

describe('on a page of 20,000 siblings', () => {
  const siblings = page(`<main>${'<p>x<a></a>'.repeat(20_000)}</main>`);

  it.each([
    ['p:has(+ p)', 19_999],
    ['p:has(~ p)', 19_999],
    ['p:has(a)', 20_000],
    ['*:nth-of-type(3)', 1],
    ['p:nth-child(2n)', 10_000],
    ['p:nth-last-child(1)', 1],
    ['p:nth-last-of-type(1)', 1],
    ['p:first-of-type', 1],
    ['p:only-child', 0],
    ['p ~ p', 19_999],
    ['p + p', 19_999],
    ['p ~ a, a + a', 0],
    ['h1 ~ p', 0],
    ['p:not(p ~ p)', 1],
  ])('%s finds %d', (selector, count) => {
    expect(siblings.css(selector).length).toBe(count);
  });

  it('a selector that cannot be matched in linear time is refused by name', () => {
    expect(() => siblings.css('p:has(+ p b)')).toThrow(/"p:has\(\+ p b\)" was stopped/);
    expect(() => siblings.css('p:has(+ p b)')).toThrow(expect.objectContaining({ code: 'selector_cost' }));
    // The same selector serves pages of ordinary size.
    expect(page('<p></p><p><b></b></p>').css('p:has(+ p b)').length).toBe(1);
  });
});

describe('on a page nested 100,000 deep', () => {
  const nested = page(`${'<div>'.repeat(100_000)}<a href="/x">deep`);

  it.each([
    ['a::attr(href)', 1],
    ['main a', 0],
    ['div div a', 1],
    ['div:has(a)', 512],
    ['section div div', 0],
  ])('%s finds %d', (selector, count) => {
    expect(nested.css(selector).length).toBe(count);
  });
});
