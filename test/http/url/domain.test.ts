/** The politeness key of a URL, and which hosts are private. */
import { describe, expect, it } from 'vitest';
import { domainOf, isPrivateAddress, isPrivateHost } from '../../../src/http/url/domain.js';

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

describe('isPrivateHost', () => {
  it.each([
    'http://localhost/',
    'http://LOCALHOST.:80/',
    'http://a.localhost/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.31.0.1/',
    'http://192.168.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://[::1]/',
    'http://[::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:a00:1::1]/',
    'http://user:pw@127.0.0.1:8080/',
    'http://１２７.0.0.1/',
  ])('sees through %s', (url) => {
    expect(isPrivateHost(url)).toBe(true);
  });

  it.each([
    'http://example.com/',
    'http://localhost.example.com/',
    'http://8.8.8.8/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
    'http://[2001:4860:4860::8888]/',
    'http://[::ffff:8.8.8.8]/',
    'http://[2002:808:808::1]/',
    'http://10.0.0.1.example.com/',
  ])('lets %s pass', (url) => {
    expect(isPrivateHost(url)).toBe(false);
  });
});

describe('isPrivateAddress', () => {
  it('judges what a name resolved to, with or without brackets and zone', () => {
    expect(['::ffff:192.168.1.1', 'fe80::1%eth0', '[::1]', '10.0.0.1'].every(isPrivateAddress)).toBe(true);
    expect(['93.184.216.34', '2606:2800::1', 'example.com', ''].some(isPrivateAddress)).toBe(false);
  });
});
