/** Paths of endless sites. */
import { expect, test } from 'vitest';
import { trapOf } from '../../../src/http/url/url-trap.js';

const limits = { pathDepth: 6, repeatedSegments: 2 };

test.each([
  ['https://a.example', null],
  ['https://a.example/1/2/3/4/5/6', null],
  ['https://a.example//1///2/3/4/5/6/', null],
  ['https://a.example/1/2/3/4/5/6/7', 'pathDepth'],
  ['https://a.example/?q=/1/2/3/4/5/6/7/8', null],
  ['https://a.example/x#/1/2/3/4/5/6/7/8', null],
  ['https://a.example/en/docs/en/docs', null],
  ['https://a.example/en/docs/en/docs/en', 'repeatedSegments'],
  ['https://a.example/a/A/a/A', null],
  ['https://u:p@a.example:8080/x/x/x', 'repeatedSegments'],
])('%s: %s', (url, trap) => {
  expect(trapOf(url, limits)).toBe(trap);
  expect(trapOf(url, { pathDepth: 0, repeatedSegments: 0 })).toBeNull();
});
