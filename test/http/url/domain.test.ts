/** The politeness key of a URL. */
import { describe, expect, it } from 'vitest';
import { domainOf } from '../../../src/http/url/domain.js';

describe('domainOf', () => {
  it.each([
    ['http://example.com/a?b', 'example.com'],
    ['http://EXAMPLE.com', 'example.com'],
    ['http://user:pw@example.com:80/', 'example.com'],
    ['https://example.com:443/', 'example.com'],
    ['https://example.com:80/', 'example.com:80'],
    ['http://example.com:8080?x', 'example.com:8080'],
    ['http://bücher.de/', 'xn--bcher-kva.de'],
    ['http://[2001:DB8::1]:81/', '[2001:db8::1]:81'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['http://[::1', 'http://[::1'],
  ])('of %s is %s', (url, domain) => {
    expect(domainOf(url, 'host')).toBe(domain);
  });

  it.each([
    ['http://www.news.example.com:8080/', 'example.com'],
    ['http://example.com/', 'example.com'],
    ['http://www.shop.example.co.uk/', 'example.co.uk'],
    ['http://a.b.example.com.au/', 'example.com.au'],
    ['http://sub.example.de/', 'example.de'],
    ['http://localhost:3000/', 'localhost'],
    ['http://127.0.0.1:3000/', '127.0.0.1'],
    ['http://[::1]:3000/', '[::1]'],
  ])('of %s, registered, is %s', (url, domain) => {
    expect(domainOf(url, 'registered')).toBe(domain);
  });
});
