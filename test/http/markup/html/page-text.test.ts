/** Character references in attributes, by the HTML standard. */
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import { PageText } from '../../../../src/http/markup/html/page-text.js';

const decodeAttribute = (value: string) => new PageText('').valueOf(value);

describe('the value of an attribute', () => {
  it.each([
    ['?a=1&amp;b=2', '?a=1&b=2'],
    ['?a&lt=2', '?a&lt=2'],
    ['?a&ltid=2', '?a&ltid=2'],
    ['&ltid;&notit;', '&ltid;&notit;'],
    ['&lt', '<'],
    ['&copy!', '©!'],
    ['&eacute;&Eacute', 'éÉ'],
    ['&NotEqualTilde;', '\u2242\u0338'],
    ['&#47;&#x2F&#128;&#0;', '//€\ufffd'],
    ['&#;&#x;&', '&#;&#x;&'],
    ['&#12abc', '\fabc'],
  ])('of %s', (value, expected) => {
    expect(decodeAttribute(value)).toBe(expected);
  });

  it('is what parse5 makes of any value', () => {
    const piece = fc.constantFrom(
      '&',
      ';',
      '=',
      '#',
      'x',
      'lt',
      'amp',
      'not',
      'in',
      'copy',
      'id',
      '1',
      'F',
      ' ',
      'é',
      '&#',
      '&#x4',
      '&ltd',
      'LT',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const value = pieces.join('');
        const [element] = parseFragment(`<a href="${value}">`).childNodes;
        const expected = element !== undefined && 'attrs' in element ? element.attrs[0]?.value : undefined;
        expect(decodeAttribute(value)).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
  });
});
