/** Which hosts and addresses are private. */
import { describe, expect, it } from 'vitest';
import { isPrivateAddress, isPrivateHost } from '../../../src/http/url/private-hosts.js';

describe('isPrivateHost', () => {
  it.each([
    'http://localhost/',
    'http://LOCALHOST.:80/',
    'http://a.localhost/',
    'http://ip6-localhost/',
    'http://localhost.localdomain/',
    'http://localhost6/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
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
    'http://[5f00::1]/',
    'http://192.0.2.1/',
    'http://198.51.100.1/',
    'http://203.0.113.255/',
    'http://192.88.99.1/',
    'http://[2001:db8:ffff::1]/',
    'http://[3fff:fff::1]/',
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
    'http://192.0.3.1/',
    'http://203.0.112.1/',
    'http://[2001:db9::1]/',
    'http://[3fff:1000::1]/',
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
