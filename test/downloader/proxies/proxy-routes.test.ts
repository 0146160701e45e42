/** Which proxy a request uses: its own, one of the list, that of the environment, or none. */
import { describe, expect, it } from 'vitest';
import { exemptionOf } from '../../../src/downloader/proxies/no-proxy.js';
import { ProxyPool } from '../../../src/downloader/proxies/proxy-pool.js';
import { noProxies, type ProxyOptions, ProxyRoutes } from '../../../src/downloader/proxies/proxy-routes.js';
import { parseProxy } from '../../../src/settings/proxy-url.js';

const request = (url: string, meta = {}) => ({
  ...{ url, method: 'GET', headers: {}, body: null, cookies: null, meta },
});

function chosen(options: Partial<ProxyOptions>, url: string, meta = {}): string | null {
  const route = new ProxyRoutes({ ...noProxies, ...options }).of(request(url, meta));
  return route?.pool.choose(route.key, [], 0)?.label ?? null;
}

const env = { http: 'http://h:1', https: 'http://s:1' };

describe('the proxy of a request', () => {
  it('is its own, else one of PROXIES, else that of its scheme', () => {
    const all = { ...env, pool: ['http://p:1'] };
    expect(chosen(all, 'http://a.test/', { proxy: 'socks5://own:2' })).toBe('own:2');
    expect(chosen(all, 'http://a.test/')).toBe('p:1');
    expect(chosen(env, 'http://a.test/')).toBe('h:1');
    expect(chosen(env, 'https://a.test/')).toBe('s:1');
    expect(chosen({}, 'https://a.test/')).toBeNull();
  });

  it('is none where the request, NO_PROXY or HTTPPROXY_ENABLED says so', () => {
    const all = { ...env, pool: ['http://p:1'], noProxy: 'b.test' };
    expect(chosen(all, 'http://a.test/', { proxy: null })).toBeNull();
    expect(chosen(all, 'http://www.b.test/')).toBeNull();
    expect(chosen(all, 'http://www.b.test/', { proxy: 'http://own:2' })).toBe('own:2');
    expect(chosen({ ...all, enabled: false }, 'http://a.test/', { proxy: 'http://own:2' })).toBeNull();
  });

  it('of the environment is not used for this machine', () => {
    for (const host of ['localhost', 'x.localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      expect(chosen(env, `http://${host}/`)).toBeNull();
      expect(chosen({ pool: ['http://p:1'] }, `http://${host}/`)).toBe('p:1');
    }
    expect(chosen(env, 'http://10.0.0.1/')).toBe('h:1');
  });

  it('that a record names badly is an error without its text', () => {
    expect(() => chosen({}, 'http://a.test/', { proxy: 'ftp://user:hunter2@h' })).toThrow(/^(?!.*hunter2)/);
    expect(() => chosen({}, 'http://a.test/', { proxy: 7 })).toThrow('meta.proxy is not a proxy');
  });
});

const proxies = Array.from({ length: 10 }, (_, n) => parseProxy(`http://p${n}:1`));
const labels = (pool: ProxyPool, key: string | null, times: number, nowMs = 0) =>
  Array.from({ length: times }, () => pool.choose(key, [], nowMs)!.label);

describe('a list of proxies', () => {
  it('is used in turn', () => {
    const pool = new ProxyPool(proxies, 1_000, 8);
    expect(labels(pool, null, 4)).toEqual(['p8:1', 'p9:1', 'p0:1', 'p1:1']);
  });

  it('gives a domain, or a jar, always the same one', () => {
    const sticky = { pool: proxies.map(({ url }) => url), selection: 'domain' } as const;
    expect(chosen(sticky, 'http://a.test/1')).toBe(chosen(sticky, 'https://a.test/2'));
    const used = new Set(Array.from({ length: 200 }, (_, n) => chosen(sticky, `http://s${n}.test/`)));
    expect(used.size).toBe(10);
    const byJar = { ...sticky, selection: 'cookiejar' } as const;
    const ofJar = (jar: unknown, host: string) => chosen(byJar, `http://${host}/`, { cookiejar: jar });
    expect(ofJar(7, 'a.test')).toBe(ofJar(7, 'b.test'));
    expect(new Set(Array.from({ length: 200 }, (_, n) => ofJar(n, 'a.test'))).size).toBe(10);
    expect(chosen(byJar, 'http://a.test/')).toBe(chosen(sticky, 'http://a.test/'));
  });

  it('without one of them moves only the domains of that one', () => {
    const [before, after] = [new ProxyPool(proxies, 1_000), new ProxyPool(proxies.slice(1), 1_000)];
    const keys = Array.from({ length: 500 }, (_, n) => `d${n}.test`);
    const of = (pool: ProxyPool, key: string) => pool.choose(key, [], 0)!.label;
    const moved = keys.filter((key) => of(before, key) !== of(after, key));
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.every((key) => of(before, key) === 'p0:1')).toBe(true);
  });

  it('leaves out one that rests, and comes back to it', () => {
    const pool = new ProxyPool(proxies, 1_000);
    const first = pool.choose('a.test', [], 0)!;
    expect(pool.failed(first, 0)).toBe(1_000);
    expect(pool.failed(first, 500)).toBeNull();
    expect(pool.choose('a.test', [], 999)).not.toBe(first);
    expect(pool.choose('a.test', [], 1_000)).toBe(first);
    expect(labels(pool, null, 9, 500)).not.toContain(first.label);
  });

  it('doubles the rest of one that fails again, until it works', () => {
    const pool = new ProxyPool(proxies, 1_000);
    const [one] = proxies as [(typeof proxies)[0]];
    let nowMs = 0;
    const rests = Array.from({ length: 6 }, () => {
      const restMs = pool.failed(one, nowMs)!;
      nowMs += restMs;
      return restMs;
    });
    expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
    expect(pool.succeeded(one)).toBe(true);
    expect(pool.succeeded(one)).toBe(false);
    expect(pool.failed(one, nowMs)).toBe(1_000);
  });

  it('lets one rest that refuses three sites in a row', () => {
    const pool = new ProxyPool(proxies, 1_000);
    const [one] = proxies as [(typeof proxies)[0]];
    for (const site of ['a', 'a', 'b', 'b']) expect(pool.refused(one, site, 0)).toBeNull();
    pool.succeeded(one);
    for (const site of ['a', 'b']) expect(pool.refused(one, site, 0)).toBeNull();
    expect(pool.refused(one, 'c', 0)).toBe(1_000);
  });

  it('of which all rest gives the one whose rest ends first, once a request', () => {
    const pool = new ProxyPool(proxies.slice(0, 2), 1_000);
    pool.failed(proxies[1]!, 0);
    pool.failed(proxies[0]!, 100);
    expect(pool.choose(null, [], 200)).toBe(proxies[1]);
    expect(pool.choose(null, [proxies[1]!], 200)).toBeNull();
    expect(pool.waitMs(200)).toBe(800);
  });
});

it.each([
  ['example.com', 'http://example.com/', true],
  ['example.com', 'http://www.example.com/', true],
  ['.example.com', 'http://example.com/', true],
  ['*.example.com', 'http://www.example.com/', true],
  ['example.com', 'http://badexample.com/', false],
  ['example.com:8080', 'http://example.com/', false],
  ['example.com:8080', 'http://example.com:8080/', true],
  ['example.com:443', 'https://example.com/', true],
  ['EXAMPLE.com', 'http://Example.COM./', true],
  ['a.test, b.test c.test', 'http://c.test/', true],
  ['10.0.0.0/8', 'http://10.9.8.7/', true],
  ['10.0.0.0/8', 'http://11.9.8.7/', false],
  ['10.0.0.1', 'http://10.0.0.1:81/', true],
  ['fd00::/8', 'http://[fd12::1]/', true],
  ['::1', 'http://[::1]/', true],
  ['*', 'http://a.test/', true],
  ['', 'http://a.test/', false],
  [null, 'http://a.test/', false],
])('NO_PROXY %s, page %s: exempt %s', (noProxy, url, isExempt) => {
  expect(exemptionOf(noProxy)(new URL(url))).toBe(isExempt);
});
