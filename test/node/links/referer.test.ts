/** The Referer header of links, by the W3C's Referrer Policy. */
import { describe, expect, it } from 'vitest';
import { Request } from '../../../src/http/message/request.js';
import { type ReferrerPolicy, refererOf, withReferer } from '../../../src/node/links/referer.js';

const page = 'https://user:pass@a.example/dir/page?q=1#part';
const whole = 'https://a.example/dir/page?q=1';
const origin = 'https://a.example/';
const [same, other, downgrade] = ['https://a.example/x', 'https://b.example/', 'http://a.example/'];

describe('the referrer', () => {
  it.each<[ReferrerPolicy, string | null, string | null, string | null]>([
    ['no-referrer', null, null, null],
    ['no-referrer-when-downgrade', whole, whole, null],
    ['same-origin', whole, null, null],
    ['origin', origin, origin, origin],
    ['strict-origin', origin, origin, null],
    ['origin-when-cross-origin', whole, origin, origin],
    ['strict-origin-when-cross-origin', whole, origin, null],
    ['unsafe-url', whole, whole, whole],
  ])('by %s', (policy, toSame, toOther, toDowngrade) => {
    expect([same, other, downgrade].map((url) => refererOf(page, url, policy))).toEqual([
      toSame,
      toOther,
      toDowngrade,
    ]);
  });

  it('that a request names itself is kept, in any case', () => {
    const own = new Request(same, { headers: { referer: 'https://own.example/' } });
    expect(withReferer(own, page, 'unsafe-url').headers).toEqual(own.headers);
    const none = new Request(same, { headers: { 'X-A': '1' } });
    expect(withReferer(none, page, 'unsafe-url').headers).toEqual({ 'X-A': '1', Referer: whole });
  });
});
