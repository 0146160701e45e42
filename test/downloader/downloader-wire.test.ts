/** The bytes that a request puts on the wire, and where it connects. */
import type { LookupFunction } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  createDownloader,
  type DownloaderOptions,
  type DownloadRequest,
} from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { httpAnswer, rawSite } from '../helpers/sites/raw-site.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A site that keeps what it is sent, and what it was sent for one request: the lines of its head. */
async function recorder(host?: string, options: Partial<DownloaderOptions> = {}) {
  const site = await rawSite((socket) => socket.write(httpAnswer('')), host);
  const downloader = createDownloader({
    ...downloaderOptions,
    userAgent: 'a crawler',
    defaultHeaders: { Accept: 'text/html' },
    ...options,
  });
  cleanups.push(site.close, () => downloader.close());
  const headOf = async (url: string, more: Partial<DownloadRequest> = {}) => {
    const request = { url, method: 'GET', headers: {}, body: null, cookies: null, ...more };
    expect((await downloader.start(request, asPage).result).status).toBe(200);
    return site.requests.at(-1)!.split('\r\n');
  };
  return { site, headOf };
}

test('a plain request is its path, the default headers, the host and keep-alive, in this order', async () => {
  const { site, headOf } = await recorder();
  expect(await headOf(site.url)).toEqual([
    'GET / HTTP/1.1',
    'user-agent: a crawler',
    'accept: text/html',
    expect.stringMatching(/^accept-encoding: gzip, deflate, br/),
    `Host: 127.0.0.1:${site.port}`,
    'Connection: keep-alive',
  ]);
});

test.each([
  ['', '/'],
  ['?', '/'],
  ['?q', '/?q'],
  ['a b?ü=%20#frag', '/a%20b?%C3%BC=%20'],
  ['%e4/%2F?a=[b]|c"', '/%e4/%2F?a=[b]|c%22'],
])('of a URL that ends in /%s a server is asked for %s', async (rest, path) => {
  const { site, headOf } = await recorder();
  expect((await headOf(site.url + rest))[0]).toBe(`GET ${path} HTTP/1.1`);
});

test('an IPv6 address keeps its brackets in the Host header only', async () => {
  const { site, headOf } = await recorder('::1');
  const head = await headOf(`http://[::1]:${site.port}/six`);
  expect(head[0]).toBe('GET /six HTTP/1.1');
  expect(head).toContain(`Host: [::1]:${site.port}`);
});

test('any method is sent, in capitals', async () => {
  const { site, headOf } = await recorder();
  for (const method of ['HEAD', 'POST', 'DELETE', 'PROPFIND', 'Purge']) {
    expect((await headOf(site.url, { method }))[0]).toBe(`${method.toUpperCase()} / HTTP/1.1`);
  }
});

test("a request's own Host header stands for that of its URL", async () => {
  const { site, headOf } = await recorder();
  const head = await headOf(site.url, { headers: { Host: 'other.test' } });
  expect(head.filter((line) => /^host:/i.test(line))).toEqual(['host: other.test']);
});

test('names are looked up as the downloader was told, and a connection is kept under its name', async () => {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, callback) => {
    asked.push(host);
    callback(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  const { site, headOf } = await recorder('127.0.0.1', { lookup });
  for (const name of ['one.test', 'two.test', 'one.test']) {
    expect(await headOf(`http://${name}:${site.port}/`)).toContain(`Host: ${name}:${site.port}`);
  }
  expect(asked).toEqual(['one.test', 'two.test']);
  expect(site.connections).toBe(2);
});
