import { describe, expect, it } from 'vitest';
import { glob } from '../../../src/http/url/url-patterns.js';

describe('glob', () => {
  it.each([
    ['https://a.example/product/*', 'https://a.example/product/7', true],
    ['https://a.example/product/*', 'https://a.example/product/7/reviews', false],
    ['https://a.example/product/*', 'http://a.example/product/7', false],
    ['https://a.example/**', 'https://a.example/', true],
    ['https://a.example/**', 'https://a.example/x/y?z=1', true],
    ['**/archive/**', 'https://a.example/x/archive/2', true],
    ['https://a.example/**/page', 'https://a.example/page', true],
    ['https://a.example/**/page', 'https://a.example/x/y/page', true],
    ['https://a.example/**/page', 'https://a.example/mypage', false],
    ['https://{a,b}.example/', 'https://b.example/', true],
    ['https://{a,b}.example/', 'https://c.example/', false],
    ['https://a.example/x?page=*', 'https://a.example/x?page=2', true],
    ['https://a.example/x?page=*', 'https://a.example/xpage=2', false],
    ['https://a.example/(x)+[y]', 'https://a.example/(x)+[y]', true],
    ['https://A.example/X', 'https://a.example/x', true],
    ['https://a.example/{', 'https://a.example/{', true],
  ])('%s matches %s: %s', (pattern, url, matches) => {
    expect(glob(pattern).test(url)).toBe(matches);
  });
});
