/** The base URL of a page, by the recorded results of w3lib. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { baseUrl } from '../../../src/http/markup/base-url.js';

interface Case {
  readonly id: string;
  readonly html: string;
  readonly url: string;
  readonly base_url: string;
}

const file = new URL('../../fixtures/vectors/html-base-refresh.public.json', import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, 'utf8')).cases;
const page = 'http://example.com/dir/page.html?x=1';

describe('baseUrl', () => {
  it('is what w3lib finds in every recorded page', () => {
    expect(cases.filter((c) => baseUrl(c.html, c.url) !== c.base_url)).toEqual([]);
  });

  it.each([
    ['<base href="http://one/"><base href="http://two/">', 'http://one/'],
    ['<!-- <base href="http://c/"> -->', page],
    ['<base target=_blank>', page],
    ['<base href="//cdn.example/é/">', 'http://cdn.example/%C3%A9/'],
    ['<base href="a b">', page],
    ['<base href="http://[broken/">', page],
    [`${' '.repeat(4096)}<base href="http://far/">`, page],
  ])('of a page with %s', (html, expected) => {
    expect(baseUrl(html, page)).toBe(expected);
  });
});
