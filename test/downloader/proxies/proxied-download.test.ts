/** Downloads through real proxies: plain, by CONNECT and by SOCKS5, with and without a password, and what fails on the way. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createDownloader,
  type DownloaderOptions,
  type DownloadRequest,
} from '../../../src/downloader/downloader.js';
import { noProxies, type ProxyOptions } from '../../../src/downloader/proxies/proxy-routes.js';
import type { Logger } from '../../../src/log.js';
import { asPage, downloaderOptions } from '../../helpers/downloader/default-options.js';
import { startProxy, type TestProxy, type TestProxyOptions } from '../../helpers/sites/proxy.js';
import { httpAnswer, rawSite } from '../../helpers/sites/raw-site.js';
import { waitFor } from '../../helpers/wait-for.js';

const dir = mkdtempSync(join(tmpdir(), 'crawlnode-proxies-'));
const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];

beforeAll(() => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:shop.test,IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => rmSync(dir, { recursive: true }));

const password = 'p@ss:w/rd ü%';
const withPassword = { username: 'me', password };

async function proxyOf(options: TestProxyOptions = {}): Promise<TestProxy> {
  const proxy = await startProxy(options);
  cleanups.push(() => proxy.close());
  return proxy;
}

function downloaderBy(proxies: Partial<ProxyOptions>, more: Partial<DownloaderOptions> = {}) {
  const downloader = createDownloader({
    ...downloaderOptions,
    maxBodyBytes: 1_000_000,
    ca: readFileSync(cert),
    ...more,
    proxies: { ...noProxies, ...proxies },
  });
  cleanups.push(() => downloader.close());
  return downloader;
}

function get(url: string, more: Partial<DownloadRequest> = {}): DownloadRequest {
  return { url, method: 'GET', headers: {}, body: null, cookies: null, ...more };
}

async function siteOf(handler: http.RequestListener, scheme: 'http' | 'https' = 'http') {
  const server =
    scheme === 'http'
      ? http.createServer(handler)
      : https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `${scheme}://shop.test:${port}/` };
}

/** What the site was asked, as JSON. */
const echo: http.RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};

const kinds = [
  ['http', {}],
  ['http', withPassword],
  ['socks5', {}],
  ['socks5', withPassword],
] as const;

describe.each(kinds)('through an %s proxy (%o)', (scheme, options) => {
  test.each(['http', 'https'] as const)(
    '%s pages arrive, with their own host and without the password',
    async (page) => {
      const proxy = await proxyOf(options);
      const { url, port } = await siteOf(echo, page);
      const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] });
      const download = await fetch(
        get(`${url}a?b=c`, { method: 'POST', body: Buffer.from('ü') }),
        asPage,
        never,
      );
      const asked = JSON.parse(download.body.toString());
      expect(asked).toMatchObject({ method: 'POST', url: '/a?b=c', body: 'ü' });
      expect(asked.headers).toMatchObject({ host: `shop.test:${port}`, 'user-agent': 'crawlnode-test' });
      expect(asked.headers).not.toHaveProperty('proxy-authorization');
      expect(download).toMatchObject({ status: 200, fromPrivateAddress: false });
      const how = scheme === 'socks5' ? 'SOCKS5' : page === 'https' ? 'CONNECT' : `POST ${url}a?b=c`;
      expect(proxy.log).toEqual([how.includes(' ') ? how : `${how} shop.test:${port}`]);
    },
  );

  test.each(['http', 'https'] as const)('connections for %s pages are kept', async (page) => {
    const proxy = await proxyOf(options);
    const { url } = await siteOf(echo, page);
    const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] });
    for (let n = 0; n < 3; n += 1) await fetch(get(`${url}${n}`), asPage, never);
    expect(proxy.connections).toBe(1);
  });

  test('limits, encodings and bad answers mean the same as without a proxy', async () => {
    const proxy = await proxyOf(options);
    const { url } = await siteOf((request, response) => {
      if (request.url === '/gzip') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('packed'));
      } else if (request.url === '/big') {
        response.end(Buffer.alloc(2_000_000));
      } else {
        response.writeHead(200, { 'content-length': 1_000 }).write('cut');
        setImmediate(() => response.destroy());
      }
    }, 'https');
    const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] });
    expect((await fetch(get(`${url}gzip`), asPage, never)).body.toString()).toBe('packed');
    await expect(fetch(get(`${url}big`), asPage, never)).rejects.toMatchObject({ reason: 'too_large' });
    await expect(fetch(get(`${url}cut`), asPage, never)).rejects.toMatchObject({ reason: 'body_truncated' });
  });

  test('a certificate for another name is the error of the site', async () => {
    const proxy = await proxyOf(options);
    const { port } = await siteOf(echo, 'https');
    const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] });
    const error = await fetch(get(`https://other.test:${port}/`), asPage, never).catch((thrown) => thrown);
    expect(error).toMatchObject({ reason: 'tls', isOfProxy: false });
  });
});

test('an https proxy is spoken to over TLS', async () => {
  const proxy = await proxyOf({ ...withPassword, tls: { key: readFileSync(key), cert: readFileSync(cert) } });
  for (const scheme of ['http', 'https'] as const) {
    const { url } = await siteOf(echo, scheme);
    const { fetch } = downloaderBy({ pool: [proxy.url()] });
    expect((await fetch(get(url), asPage, never)).status).toBe(200);
  }
  const untrusted = downloaderBy({ pool: [proxy.url()] }, { ca: '' });
  await expect(untrusted.fetch(get('http://shop.test/'), asPage, never)).rejects.toMatchObject({
    reason: 'proxy_error',
    message: expect.stringContaining('TLS failed'),
  });
});

describe.each(['http', 'socks5'] as const)('a wrong password for an %s proxy', (scheme) => {
  test.each(['http', 'https'] as const)(
    'is the fault of the proxy, and shown nowhere (%s pages)',
    async (page) => {
      const proxy = await proxyOf(withPassword);
      const { url } = await siteOf(echo, page);
      const wrong = proxy.url(scheme).replace(/:[^:@]*@/, ':wrong-secret@');
      const lines: string[] = [];
      const { fetch } = downloaderBy({ pool: [wrong] }, { log: collecting(lines) });
      const error = await fetch(get(url), asPage, never).catch((thrown) => thrown);
      expect(error).toMatchObject({ reason: 'proxy_auth', retryable: true, isOfProxy: true });
      expect(error.message).toContain(`proxy ${proxy.label}: it `);
      expect(`${error.message} ${error.cause} ${lines.join(' ')}`).not.toContain('wrong-secret');
      expect(lines).toEqual([expect.stringContaining('rests for 30 s')]);
    },
  );
});

test('a 407 of a site is an answer like any other, when the site is reached through a tunnel', async () => {
  const proxy = await proxyOf();
  const { url } = await siteOf((_request, response) => response.writeHead(407).end(), 'https');
  const { fetch } = downloaderBy({ pool: [proxy.url()] });
  expect((await fetch(get(url), asPage, never)).status).toBe(407);
});

describe('a proxy that fails', () => {
  test('is replaced by another one, and rests', async () => {
    const [one, two] = [await proxyOf(), await proxyOf()];
    const { url } = await siteOf(echo);
    await one.close();
    const { fetch } = downloaderBy({ pool: [one.url(), two.url()] });
    let failures = 0;
    for (let n = 0; n < 6; n += 1)
      failures += (await fetch(get(`${url}${n}`), asPage, never)).failedProxies ?? 0;
    expect(failures).toBe(1);
    expect(two.log).toHaveLength(6);
  });

  test('is followed by at most two others', async () => {
    const dead = await Promise.all([1, 2, 3, 4].map(() => proxyOf()));
    for (const proxy of dead) await proxy.close();
    const { fetch } = downloaderBy({ pool: dead.map((proxy) => proxy.url()) });
    const error = await fetch(get('http://shop.test/'), asPage, never).catch((thrown) => thrown);
    expect(error).toMatchObject({ reason: 'proxy_error', proxies: { count: 3, cutShort: false, waitMs: 0 } });
    expect(error.message).toMatch(/^shop\.test: proxy 127.*ECONNREFUSED.*3 proxies were tried$/);
  });

  test('is asked again when all rest, and says how long', async () => {
    const proxy = await proxyOf();
    await proxy.close();
    const { fetch } = downloaderBy({ pool: [proxy.url()] });
    for (let n = 0; n < 2; n += 1) {
      const error = await fetch(get('http://shop.test/'), asPage, never).catch((thrown) => thrown);
      expect(error).toMatchObject({ reason: 'proxy_error', proxies: { count: 1 } });
      expect(error.proxies.waitMs).toBeGreaterThan(20_000);
      expect(error.proxies.waitMs).toBeLessThanOrEqual(30_000);
    }
  });

  test('too late for the politeness of the domain leaves the page to a later lease', async () => {
    const [one, two] = [await proxyOf(), await proxyOf()];
    await one.close();
    await two.close();
    const { start } = downloaderBy({ pool: [one.url(), two.url()] });
    const late = start(get('http://shop.test/'), { ...asPage, beginByMs: performance.now() - 1 }).result;
    await expect(late).rejects.toMatchObject({ proxies: { count: 1, cutShort: true } });
  });

  test.each(['http', 'socks5'] as const)(
    'to connect to a site is refused, and does not rest at once (%s)',
    async (scheme) => {
      let answer: number | null = 503;
      const proxy = await proxyOf({ refuse: () => answer });
      const { url } = await siteOf(echo, 'https');
      const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] });
      const error = await fetch(get(url), asPage, never).catch((thrown) => thrown);
      expect(error).toMatchObject({ reason: 'proxy_refused', proxies: { count: 1, waitMs: 0 } });
      expect(error.message).toMatch(/CONNECT with 503|SOCKS5 reply is NotAllowed/);
      answer = null;
      expect((await fetch(get(url), asPage, never)).status).toBe(200);
    },
  );

  test('by silence ends in time', async () => {
    const proxy = await proxyOf({ isSilent: true });
    for (const scheme of ['http', 'socks5'] as const) {
      const { fetch } = downloaderBy({ pool: [proxy.url(scheme)] }, { timeoutMs: 300 });
      const error = await fetch(get('https://shop.test/'), asPage, never).catch((thrown) => thrown);
      expect(error).toMatchObject({ reason: 'proxy_refused', isOfProxy: true });
    }
  });

  test('with an answer that is no proxy’s is an error of the proxy', async () => {
    const odd = await rawSite((socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
    cleanups.push(() => odd.close());
    const { fetch } = downloaderBy({ pool: [`http://127.0.0.1:${odd.port}`] });
    await expect(fetch(get('https://shop.test/'), asPage, never)).rejects.toMatchObject({
      reason: 'proxy_refused',
    });
    const web = await siteOf(echo);
    const socks = downloaderBy({ pool: [`socks5://127.0.0.1:${web.port}`] });
    await expect(socks.fetch(get('https://shop.test/'), asPage, never)).rejects.toMatchObject({
      reason: 'proxy_error',
    });
  });
});

test('a site that fails behind a proxy is tried through this proxy alone', async () => {
  const [one, two] = [await proxyOf(), await proxyOf()];
  const { url } = await siteOf((_request, response) => response.destroy(), 'https');
  const { fetch } = downloaderBy({ pool: [one.url(), two.url()] });
  await expect(fetch(get(url), asPage, never)).rejects.toMatchObject({ reason: 'connection_reset' });
  expect([...one.log, ...two.log]).toHaveLength(1);
});

describe('the slot of a download', () => {
  test.each(['http', 'https'] as const)(
    'is free while its server hangs behind a proxy (%s)',
    async (scheme) => {
      const proxy = await proxyOf();
      const { url } = await siteOf(() => {}, scheme);
      const { start } = downloaderBy({ pool: [proxy.url()] });
      const calls = Array.from({ length: 12 }, (_, n) => start(get(`${url}${n}`), asPage));
      await waitFor(() => calls.every(({ isStalled }) => isStalled), { what: 'all downloads to stall' });
      const { url: other } = await siteOf(echo, scheme);
      // Beyond the concurrency of 4, and through the same proxy.
      expect((await start(get(other), asPage).result).status).toBe(200);
      for (const call of calls) call.abort();
      for (const call of calls) await expect(call.result).rejects.toMatchObject({ reason: 'aborted' });
    },
  );

  test('stays within the budget for bodies', async () => {
    const proxy = await proxyOf();
    const body = Buffer.alloc(900_000, 'x');
    const { url } = await siteOf((_request, response) => response.end(body), 'https');
    const { fetch } = downloaderBy({ pool: [proxy.url()] }, { bufferBytes: 300_000 });
    const pages = await Promise.all([1, 2, 3].map((n) => fetch(get(`${url}${n}`), asPage, never)));
    expect(pages.map((page) => page.body.length)).toEqual([900_000, 900_000, 900_000]);
  });
});

test('a lenient parse uses a connection of its own', async () => {
  const proxy = await proxyOf();
  const site = await rawSite((socket) => socket.end(httpAnswer('odd', ['X-Odd: a\x01b'])));
  cleanups.push(() => site.close());
  const { fetch } = downloaderBy({ pool: [proxy.url('socks5')] });
  const url = `http://shop.test:${site.port}/`;
  await expect(fetch(get(url), asPage, never)).rejects.toMatchObject({ malformed: true });
  expect((await fetch(get(url), { ...asPage, isLenient: true }, never)).body.toString()).toBe('odd');
  expect(proxy.connections).toBe(2);
});

test('a private address that stands in the URL is refused behind a proxy too; the proxy itself may be at one', async () => {
  const proxy = await proxyOf();
  const { url, port } = await siteOf(echo);
  const { fetch } = downloaderBy({ pool: [proxy.url()] }, { allowPrivateAddresses: false });
  expect((await fetch(get(url), asPage, never)).status).toBe(200);
  const hosts = ['127.0.0.1', 'localhost', '0x7f.1', '[::1]', '10.0.0.1', '169.254.169.254'];
  for (const host of hosts) {
    await expect(fetch(get(`http://${host}:${port}/`), asPage, never)).rejects.toMatchObject({
      reason: 'private_address',
    });
  }
  const trusted = { origin: { seed: '00000000', private: true } };
  const own = await fetch(get(`http://127.0.0.1:${port}/`, trusted), asPage, never);
  expect(own).toMatchObject({ status: 200, fromPrivateAddress: true });
  expect(proxy.log).toHaveLength(2);
});

test('the agents of proxies that are not used any more are closed', async () => {
  const proxy = await proxyOf();
  const { url } = await siteOf(echo);
  const { fetch } = downloaderBy({});
  for (let n = 0; n < 70; n += 1) {
    await fetch(get(url, { meta: { proxy: `http://user${n}@${proxy.label}` } }), asPage, never);
  }
  await waitFor(() => proxy.openConnections === 64, { what: 'the oldest six connections to close' });
});

test('closing the downloader ends connections that are being made', async () => {
  const proxy = await proxyOf({ isSilent: true });
  const downloader = downloaderBy({ pool: [proxy.url()] });
  const { result } = downloader.start(get('https://shop.test/'), asPage);
  result.catch(() => {});
  await waitFor(() => proxy.openConnections === 1, { what: 'the connection to the proxy' });
  await downloader.close();
  await expect(result).rejects.toMatchObject({ reason: 'aborted' });
  await waitFor(() => proxy.openConnections === 0, { what: 'the connection to the proxy to end' });
});

function collecting(lines: string[]): Logger {
  const add = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`);
  const nothing = () => {};
  return { debug: nothing, info: nothing, warn: add, error: add } as unknown as Logger;
}
