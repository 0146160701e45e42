/** Cookies of a request that uses no jar are sent where their domain, path and `secure` say. */
import { expect, test } from 'vitest';
import { checkCookies, cookiesFor } from '../../../src/http/message/request-cookies.js';

const cookies = checkCookies([
  { name: 'any', value: 1 },
  { name: 'domain', value: 2, domain: '.Shop.com' },
  { name: 'path', value: 3, path: '/list' },
  { name: 'safe', value: true, secure: true },
])!;
const sentTo = (url: string) => cookiesFor(url, cookies).map(({ name }) => name);

test.each([
  ['https://shop.com/', ['any', 'domain', 'safe']],
  ['http://www.shop.com/list', ['any', 'domain', 'path']],
  ['http://www.shop.com/list/1', ['any', 'domain', 'path']],
  ['http://notshop.com/lists', ['any']],
])('to %s', (url, names) => expect(sentTo(url)).toEqual(names));

test('cookies by name go everywhere', () => {
  expect(cookiesFor('http://a.b/', checkCookies({ a: 1 })!)).toEqual([{ name: 'a', value: '1' }]);
});
