/**
 * Long texts of a page are read with bounded memory: V8 keeps each match of a replacement, and each part of a split, until its end.
 * So the tests count them.
 */
import {
  absoluteUrl,
  decimalComma,
  LinkExtractor,
  number,
  type Response as Page,
  Request,
  Response,
  trim,
} from 'crawlnode';
import { afterEach, expect, it, vi } from 'vitest';

const page = (body: string | Buffer, type = 'text/html'): Page =>
  new Response({ url: 'http://a.example/b', headers: { 'content-type': type }, body });

afterEach(() => vi.restoreAllMocks());

/** The most matches of one replacement, or parts of one split, while `run` runs. */
function mostAtOnce(run: () => void): number {
  let most = 0;
  const spied = RegExp.prototype as unknown as Record<symbol, (...given: unknown[]) => unknown>;
  const { [Symbol.replace]: replace, [Symbol.split]: split } = spied;
  const matchesOf = (expression: RegExp, text: string) => {
    const parts = split!.call(new RegExp(expression.source, expression.flags), text);
    return (parts as unknown[]).length - 1;
  };
  spied[Symbol.replace] = function counted(this: RegExp, text: unknown, by: unknown) {
    if (this.global) most = Math.max(most, matchesOf(this, text as string));
    return replace!.call(this, text, by);
  };
  spied[Symbol.split] = function counted(this: RegExp, ...given: unknown[]) {
    const parts = split!.apply(this, given) as unknown[];
    most = Math.max(most, parts.length);
    return parts;
  };
  try {
    run();
  } finally {
    spied[Symbol.replace] = replace!;
    spied[Symbol.split] = split!;
  }
  return most;
}

const WORDS = 'a \n'.repeat(200_000);
const MOST = 70_000;

it.each<[string, () => void]>([
  ['trim', () => expect(trim(WORDS)).toBe('a '.repeat(200_000).trim())],
  ['decimalComma', () => expect(decimalComma(`${'.,'.repeat(200_000)} 1.234,5`)).toBe(1234.5)],
  ['number', () => expect(number(`1${',234'.repeat(200_000)}`)).toBe(Number.POSITIVE_INFINITY)],
  [
    'the text of an option',
    () => {
      const form = page(`<form><select name=a><option>${WORDS}</select></form>`);
      expect(new URL(Request.fromForm(form).url).searchParams.get('a')).toBe(trim(WORDS));
    },
  ],
  [
    're',
    () =>
      expect(
        page(`<p>${'&amp;gt;'.repeat(200_000)}`)
          .css('p::text')
          .re(/.+/)[0],
      ).toMatch(/^>{200000}$/),
  ],
])('%s', (_, read) => {
  expect(mostAtOnce(read)).toBeLessThan(MOST);
});

it('a run of white space of any length becomes one space', () => {
  const blanks = ' '.repeat(300_000);
  expect(trim(`${blanks}a${blanks}b\u00a0${blanks}`)).toBe('a b');
});

it('re() gives a million matches of all texts at most, and reFirst() looks for one', () => {
  const list = page(`<p>${'a '.repeat(600_000)}</p><p>${'a '.repeat(600_000)}`).css('p::text');
  expect(() => list.re(/\w/)).toThrow(expect.objectContaining({ code: 'selector_cost' }));
  expect(list.at(0).re(/\w/).length).toBe(600_000);
  expect(list.reFirst(/\w/)).toBe('a');
});

it('an href of more than 64 KiB is no URL; data: of an image may be longer', () => {
  const long = 'a '.repeat(40_000);
  expect(absoluteUrl(long, page(''))).toBeNull();
  expect(() => page('').urljoin(long)).toThrow('is not a URL');
  expect(new LinkExtractor().extractLinks(page(`<a href="${long}">`))).toEqual([]);
  const image = `data:image/png;base64,${'A'.repeat(100_000)}`;
  expect(absoluteUrl(image, page(''))).toBe(image);
  expect(absoluteUrl(`data:,${'A'.repeat(9_000_000)}`, page(''))).toBeNull();
});
