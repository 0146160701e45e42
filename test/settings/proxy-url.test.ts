/** The addresses of proxies as people write them, and what of them is shown. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { maskSetting, secretFilter } from '../../src/settings/mask-secrets.js';
import { maskUrls } from '../../src/settings/mask-urls.js';
import { maskProxy, parseProxy } from '../../src/settings/proxy-url.js';
import { loadSettings } from '../../src/settings/sources/load-settings.js';

const cwd = mkdtempSync(join(tmpdir(), 'crawlnode-proxy-url-'));
afterAll(() => rmSync(cwd, { recursive: true }));

it.each([
  ['http://proxy:3128', 'http://proxy:3128'],
  ['proxy:3128', 'http://proxy:3128'],
  ['proxy', 'http://proxy:80'],
  ['https://proxy', 'https://proxy:443'],
  ['http://proxy:80/', 'http://proxy:80'],
  ['socks5://proxy', 'socks5://proxy:1080'],
  ['socks5://proxy:80', 'socks5://proxy:80'],
  ['SOCKS5H://Proxy', 'socks5://proxy:1080'],
  ['http://[::1]:3128', 'http://[::1]:3128'],
  ['http://me:pass@proxy:1', 'http://me:pass@proxy:1'],
  ['me:pass@proxy:1', 'http://me:pass@proxy:1'],
  ['http://me:p@ss/w#rd:x@proxy:1', 'http://me:p%40ss%2Fw%23rd%3Ax@proxy:1'],
  ['http://me:p%40ss@proxy:1', 'http://me:p%40ss@proxy:1'],
  ['http://me@proxy:1', 'http://me@proxy:1'],
  ['10.0.0.1:8080:me:pass', 'http://me:pass@10.0.0.1:8080'],
  ['10.0.0.1:8080:me:p@ss/:x', 'http://me:p%40ss%2F%3Ax@10.0.0.1:8080'],
  ['me:1:2:pass@proxy:1', 'http://me:1%3A2%3Apass@proxy:1'],
  ['socks5://proxy:1080:me:pa:ss', 'socks5://me:pa%3Ass@proxy:1080'],
])('%s is %s', (text, url) => {
  expect(parseProxy(text).url).toBe(url);
  expect(parseProxy(url).url).toBe(url);
});

it.each([
  '',
  'http://',
  'ftp://proxy',
  'socks4://proxy',
  'http://proxy:99999',
  'http://proxy:1/path',
  'proxy:0',
])('"%s" is no proxy', (text) => {
  expect(() => parseProxy(text)).toThrow(/^its |^there is /);
});

const secret = 'hunter22';
const bad = [
  `http://me:${secret}@proxy:99999`,
  `ftp://me:${secret}@proxy`,
  `proxy:99999:me:${secret}`,
  `proxy:99999:me:p@${secret}`,
  `http://me:${secret}/x@proxy:1/path`,
];

describe('a password', () => {
  it.each([...bad, `http://me:${secret}@proxy:1`, `socks5://me:${secret}@proxy:1`, `proxy:1:me:${secret}`])(
    'is masked in %s',
    (text) => {
      expect(maskProxy(text)).not.toContain(secret);
      expect(maskProxy(text)).toMatch(/^[a-z:/*@5]*proxy/);
      for (const name of ['PROXIES', 'HTTP_PROXY', 'HTTPS_PROXY']) {
        expect(String(maskSetting(name, text))).not.toContain(secret);
        expect(String(maskSetting(name, [text]))).not.toContain(secret);
      }
    },
  );

  it.each([`us:${secret}:proxy.example:8080`, `http://us:${secret}:proxy:1`, `proxy ${secret}`])(
    'is masked with the whole text where nothing tells the password from the host: %s',
    (text) => {
      expect(maskProxy(text)).toBe('***');
      expect(JSON.stringify(maskSetting('PROXIES', [text]))).not.toContain(secret);
    },
  );

  it('is masked in an error about the setting', () => {
    for (const text of bad) {
      for (const name of ['PROXIES', 'HTTP_PROXY']) {
        const load = () => loadSettings({ cwd, env: {}, cli: { [name]: text } });
        expect(load).toThrow(new RegExp(`^(?!.*${secret}).*${name}: expected a`, 's'));
      }
    }
  });

  it('is masked in URLs of socks5 proxies too, and wherever else it stands in the output', () => {
    expect(maskUrls(`a socks5://me:${secret}@h:1 b`)).toBe('a socks5://***@h:1 b');
    const filter = secretFilter({ PROXIES: [parseProxy(`http://me:p@ss ${secret}@h:1`).url] });
    expect(filter(`x p@ss ${secret} y p%40ss%20${secret}`)).toBe('x *** y ***');
  });
});

describe('settings of proxies', () => {
  const load = (env: Record<string, string>, cli: Record<string, string> = {}) =>
    loadSettings({ cwd, env, cli });

  it('come from the variables that other programs use, in lower case first', () => {
    const { settings } = load({ http_proxy: 'http://low:1', HTTP_PROXY: 'http://up:1', HTTPS_PROXY: 'up:2' });
    expect(settings).toMatchObject({
      HTTP_PROXY: 'http://low:1',
      HTTPS_PROXY: 'http://up:2',
      NO_PROXY: null,
    });
    expect(load({ no_proxy: 'localhost' }).settings.NO_PROXY).toBe('localhost');
  });

  it('that other programs understand and crawlnode does not are left out with a warning', () => {
    const { settings, warnings } = load({ https_proxy: `ftp://me:${secret}@proxy` });
    expect(settings.HTTPS_PROXY).toBeNull();
    expect(warnings.join()).toMatch(/HTTPS_PROXY: expected a proxy.*it is ignored/);
    expect(warnings.join()).not.toContain(secret);
  });

  it('list proxies, or name a file of them', () => {
    const list = (text: string) => load({}, { PROXIES: text }).settings.PROXIES;
    expect(list('http://a:1, b:2')).toEqual(['http://a:1', 'http://b:2']);
    expect(list('["a:1"]')).toEqual(['http://a:1']);
    expect(list('a:1')).toEqual(['http://a:1']);
    expect(list('proxies.txt')).toBe(join(cwd, 'proxies.txt'));
    expect(() => list('proxies.txt,http://a:1/x')).toThrow('PROXIES');
    expect(list('')).toEqual([]);
  });
});
