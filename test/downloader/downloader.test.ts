/** One request in, one answer or one named error out, against real servers. */
import http from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import {
  createDownloader,
  type DownloaderOptions,
  type DownloadRequest,
} from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';

const defaults: DownloaderOptions = {
  ...downloaderOptions,
  maxBodyBytes: 1_000_000,
  defaultHeaders: { Accept: 'text/html', 'Accept-Language': 'en' },
};
const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function downloader(options: Partial<DownloaderOptions> = {}) {
  const made = createDownloader({ ...defaults, ...options });
  cleanups.push(() => made.close());
  return made;
}

function get(url: string, more: Partial<DownloadRequest> = {}): DownloadRequest {
  return { url, method: 'GET', headers: {}, body: null, cookies: null, ...more };
}

async function site(handler: http.RequestListener, server = http.createServer()) {
  server.on('request', handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/` };
}

/** A site that answers with what it was asked, as JSON. */
function echo() {
  return site((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
    });
  });
}

test('a page comes back with status, headers, body and the bytes on the wire', async () => {
  const { url } = await site((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Set-Cookie': ['a=1', 'b=2'] }).end('<p>hello');
  });
  const page = await downloader().fetch(get(url), asPage, never);
  expect(page).toMatchObject({ url, status: 200, wireBytes: 8 });
  expect(page.headers).toMatchObject({ 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] });
  expect(page.body.toString()).toBe('<p>hello');
  expect(page.latencyMs).toBeGreaterThan(0);
});

test('every status is an answer, and a redirect is not followed', async () => {
  const { url } = await site((request, response) => {
    response.writeHead(Number(request.url!.slice(1)), { location: '/200' }).end();
  });
  const { fetch } = downloader();
  for (const status of [204, 301, 304, 404, 429, 503]) {
    expect((await fetch(get(`${url}${status}`), asPage, never)).status).toBe(status);
  }
});

test('the user agent and the default headers are sent, and those of the request win whatever their case', async () => {
  const { url } = await echo();
  const { fetch } = downloader();
  const plain = JSON.parse((await fetch(get(url), asPage, never)).body.toString());
  expect(plain.headers).toMatchObject({
    'user-agent': 'crawlnode-test',
    accept: 'text/html',
    'accept-language': 'en',
  });
  expect(plain.headers['accept-encoding']).toMatch(/^gzip, deflate, br/);
  const headers = { ACCEPT: 'application/json', 'User-Agent': 'other', 'X-Twice': ['1', '2'] };
  const own = JSON.parse((await fetch(get(url, { headers }), asPage, never)).body.toString());
  expect(own.headers).toMatchObject({
    'user-agent': 'other',
    accept: 'application/json',
    'accept-language': 'en',
    'x-twice': '1, 2',
  });
  const after = JSON.parse((await fetch(get(url), asPage, never)).body.toString());
  expect(after.headers).toEqual(plain.headers);
});

test('cookies of the request become a Cookie header; cookies of a site are not kept', async () => {
  const { url } = await site((request, response) => {
    response.setHeader('set-cookie', 'session=1').end(request.headers.cookie ?? 'none');
  });
  const { fetch } = downloader();
  const text = async (more: Partial<DownloadRequest>) =>
    (await fetch(get(url, more), asPage, never)).body.toString();
  expect(await text({ cookies: { a: '1', b: 'x y' } })).toBe('a=1; b=x y');
  expect(await text({ cookies: { a: '1' }, headers: { Cookie: 'z=9' } })).toBe('z=9; a=1');
  expect(await text({})).toBe('none');
});

test('bodies go with any method, and a POST without one is sent as empty', async () => {
  const { url } = await echo();
  const { fetch } = downloader();
  const sent = async (more: Partial<DownloadRequest>) =>
    JSON.parse((await fetch(get(url, more), asPage, never)).body.toString());
  expect(await sent({ method: 'POST', body: Buffer.from('a=ü') })).toMatchObject({
    method: 'POST',
    body: 'a=ü',
  });
  expect(await sent({ method: 'GET', body: Buffer.from('q') })).toMatchObject({ method: 'GET', body: 'q' });
  expect(await sent({ method: 'PUT', body: Buffer.alloc(0) })).toMatchObject({ method: 'PUT', body: '' });
  const empty = await sent({ method: 'POST' });
  expect(empty).toMatchObject({ method: 'POST', body: '', headers: { 'content-length': '0' } });
});

test('HEAD, 204 and 304 have no body, whatever their headers announce', async () => {
  const { url } = await site((request, response) => {
    const status = request.method === 'HEAD' ? 200 : Number(request.url!.slice(1));
    response
      .writeHead(status, {
        'content-encoding': 'gzip',
        ...(status === 200 && { 'content-length': '5000000' }),
      })
      .end();
  });
  const { fetch } = downloader();
  const head = await fetch(get(url, { method: 'HEAD' }), asPage, never);
  expect(head).toMatchObject({ status: 200, wireBytes: 0 });
  expect(head.headers['content-length']).toBe('5000000');
  expect((await fetch(get(`${url}204`), asPage, never)).body).toHaveLength(0);
  expect((await fetch(get(`${url}304`), asPage, never)).body).toHaveLength(0);
});

const text = Buffer.from('<p>größe</p>'.repeat(1000));
const encodings: [string, Buffer][] = [
  ['gzip', zlib.gzipSync(text)],
  ['X-GZIP', zlib.gzipSync(text)],
  ['deflate', zlib.deflateSync(text)],
  ['deflate', zlib.deflateRawSync(text)],
  ['br', zlib.brotliCompressSync(text)],
  ['identity', text],
  ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(text))],
  ['deflate, identity, gzip', zlib.gzipSync(zlib.deflateSync(text))],
];
if ('zstdCompressSync' in zlib) {
  encodings.push(['zstd', (zlib.zstdCompressSync as (bytes: Buffer) => Buffer)(text)]);
}

test.each(encodings)('a body encoded as %s is decoded', async (encoding, wire) => {
  const { url } = await site((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(wire);
  });
  const page = await downloader().fetch(get(url), asPage, never);
  expect(page.body.equals(text)).toBe(true);
  expect(page.wireBytes).toBe(wire.length);
  expect(page.headers['content-encoding']).toBeUndefined();
});

test('a large encoded body is decoded as well', async () => {
  const big = Buffer.from(Array.from({ length: 150_000 }, (_, i) => (i * 2654435761) % 65_521).join(' '));
  const { url } = await site((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(big));
  });
  const page = await downloader().fetch(get(url), asPage, never);
  expect(page.wireBytes).toBeGreaterThan(64 * 1024);
  expect(page.body.equals(big)).toBe(true);
});

test('connections are kept alive and bounded', async () => {
  let connections = 0;
  const server = http.createServer();
  server.on('connection', () => {
    connections += 1;
  });
  const { url } = await site((_request, response) => response.end('x'), server);
  const { fetch } = downloader({ concurrency: 2 });
  await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(get(`${url}${i}`), asPage, never)));
  expect(connections).toBeLessThanOrEqual(2);
});

test('userinfo in a URL is sent as Basic credentials, unless the request has its own', async () => {
  const { port } = await echo();
  const { fetch } = downloader();
  const sent = async (url: string, headers = {}) =>
    JSON.parse((await fetch(get(url, { headers }), asPage, never)).body.toString()).headers.authorization;
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  expect(await sent(`http://us%40er:p%C3%A4ss@127.0.0.1:${port}/`)).toBe(basic('us@er:päss'));
  expect(await sent(`http://user@127.0.0.1:${port}/`)).toBe(basic('user:'));
  expect(await sent(`http://u:100%25%@127.0.0.1:${port}/`)).toBe(basic('u:100%25%'));
  expect(await sent(`http://u:p@127.0.0.1:${port}/`, { Authorization: 'Bearer t' })).toBe('Bearer t');
  expect(await sent(`http://127.0.0.1:${port}/a@b`)).toBeUndefined();
});

test('an error names the host, and neither userinfo nor path nor header', async () => {
  const { fetch } = downloader();
  const headers = { authorization: 'Bearer secret3' };
  const error = await fetch(
    get('http://secret1:secret2@127.0.0.1:1/secret4', { headers }),
    asPage,
    never,
  ).catch((e) => e);
  expect(error).toMatchObject({
    reason: 'connection_refused',
    retryable: true,
    code: 'download_connection_refused',
  });
  expect(error.message).toContain('127.0.0.1:1');
  const { inspect } = await import('node:util');
  expect(inspect(error, { depth: 10 })).not.toContain('secret');
});

test('names that do not exist and names that cannot be resolved for now are told apart', async () => {
  const failing =
    (code: string): LookupFunction =>
    (host, _options, callback) =>
      callback(Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code }), '', 4);
  const ask = (code: string) =>
    downloader({ lookup: failing(code) })
      .fetch(get('http://nowhere.test/'), asPage, never)
      .catch((error) => error);
  expect(await ask('ENOTFOUND')).toMatchObject({ reason: 'dns_not_found', retryable: false });
  expect(await ask('EAI_AGAIN')).toMatchObject({ reason: 'dns_try_again', retryable: true });
  expect((await ask('ENOTFOUND')).message).toContain('nowhere.test');
});

test('what cannot be sent is refused without a retry', async () => {
  const { url } = await echo();
  const { fetch } = downloader();
  const bad = [
    get(url, { headers: { 'x-bad': 'line\nbreak' } }),
    get(url, { headers: { 'bad name': 'x' } }),
    get(url, { method: 'BAD METHOD' }),
    get('http://exa mple/'),
    get('ftp://127.0.0.1/'),
  ];
  for (const request of bad) {
    await expect(fetch(request, asPage, never)).rejects.toMatchObject({
      reason: 'bad_request',
      retryable: false,
    });
  }
});

test('an abort ends a download at once, and one that was aborted before never starts', async () => {
  let asked = 0;
  const { url } = await site(() => {
    asked += 1;
    abort.abort();
  });
  const abort = new AbortController();
  const { fetch } = downloader();
  const many = await Promise.allSettled([1, 2, 3].map((n) => fetch(get(`${url}${n}`), asPage, abort.signal)));
  for (const one of many) expect(one).toMatchObject({ reason: { reason: 'aborted', retryable: true } });
  const before = asked;
  await expect(fetch(get(url), asPage, abort.signal)).rejects.toMatchObject({ reason: 'aborted' });
  expect(asked).toBe(before);
});

test('closing the downloader aborts what is under way', async () => {
  const { url } = await site(() => void made.close());
  const made = downloader();
  await expect(made.fetch(get(url), asPage, never)).rejects.toMatchObject({ reason: 'aborted' });
  await expect(made.fetch(get(url), asPage, never)).rejects.toMatchObject({ reason: 'aborted' });
});

test('a large body is logged when asked for', async () => {
  const { url } = await site((_request, response) => response.end('x'.repeat(1000)));
  const warnings: object[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void warnings.push(fields) };
  await downloader({ warnBodyBytes: 999, log }).fetch(get(url), asPage, never);
  await downloader({ warnBodyBytes: 1000, log }).fetch(get(url), asPage, never);
  expect(warnings).toMatchObject([{ bytes: 1000 }]);
});
