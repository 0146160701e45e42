/** A request may have limits of its own in `meta`; DOWNLOAD_FAIL_ON_DATALOSS, of the settings or its own. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createDownloader, type DownloaderOptions } from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';

const defaults: DownloaderOptions = {
  ...downloaderOptions,
  timeoutMs: 30_000,
  maxBodyBytes: 1_000_000,
};
const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function site(handler: http.RequestListener): Promise<string> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function fetchWith(url: string, meta: Record<string, unknown>, options: Partial<DownloaderOptions> = {}) {
  const downloader = createDownloader({ ...defaults, ...options });
  cleanups.push(() => downloader.close());
  return downloader.fetch(
    { url, method: 'GET', headers: {}, body: null, cookies: null, meta },
    asPage,
    never,
  );
}

/** Sends `body`, then cuts the connection, although more was announced. */
const cut =
  (body: Buffer, headers: http.OutgoingHttpHeaders): http.RequestListener =>
  (_request, response) => {
    response.writeHead(200, headers);
    response.write(body, () => setImmediate(() => response.destroy()));
  };

test('a request times out after its own download_timeout', async () => {
  const url = await site(() => {});
  await expect(fetchWith(url, { download_timeout: 0.2 })).rejects.toMatchObject({
    reason: 'timeout',
    message: expect.stringContaining('timed out after 0.2 s in all'),
  });
});

test('a download_timeout may be longer than DOWNLOAD_TIMEOUT, before the headers and in the body', async () => {
  const url = await site((_request, response) => {
    setTimeout(() => {
      response.write('slow ');
      setTimeout(() => response.end('page'), 300);
    }, 300);
  });
  await expect(fetchWith(url, {}, { timeoutMs: 200 })).rejects.toMatchObject({ reason: 'timeout' });
  const page = await fetchWith(url, { download_timeout: 20 }, { timeoutMs: 200 });
  expect(page.body.toString()).toBe('slow page');
});

test('a request has its own download_maxsize, lower, higher or none', async () => {
  const url = await site((_request, response) => void response.end(Buffer.alloc(1_000)));
  await expect(fetchWith(url, { download_maxsize: 999 })).rejects.toMatchObject({ reason: 'too_large' });
  const low = { maxBodyBytes: 10 };
  await expect(fetchWith(url, {}, low)).rejects.toMatchObject({ reason: 'too_large' });
  expect((await fetchWith(url, { download_maxsize: 1_000 }, low)).body).toHaveLength(1_000);
  expect((await fetchWith(url, { download_maxsize: 0 }, low)).body).toHaveLength(1_000);
});

test.each([
  ['with a length', { 'content-length': 100 }],
  ['in chunks', {}],
])('a body %s that is cut fails the download, unless dataloss is allowed', async (_how, headers) => {
  const url = await site(cut(Buffer.from('the beginning'), headers));
  await expect(fetchWith(url, {})).rejects.toMatchObject({ reason: 'body_truncated' });
  const page = await fetchWith(url, { download_fail_on_dataloss: false });
  expect(page).toMatchObject({ status: 200, flags: ['dataloss'] });
  expect(page.body.toString()).toBe('the beginning');
  expect((await fetchWith(url, {}, { failOnDataLoss: false })).flags).toEqual(['dataloss']);
  const own = fetchWith(url, { download_fail_on_dataloss: true }, { failOnDataLoss: false });
  await expect(own).rejects.toMatchObject({ reason: 'body_truncated' });
});

test.each([
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  [
    'br',
    (text: string) => zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } }),
  ],
])('of a cut %s body the part that came is decoded', async (name, compress) => {
  const text = Array.from({ length: 40_000 }, (_, n) => `line ${n} ${Math.sin(n)}\n`).join('');
  for (const bytes of [40_000, 200_000]) {
    const whole = compress(text);
    const url = await site(
      cut(whole.subarray(0, bytes), { 'content-length': whole.length, 'content-encoding': name }),
    );
    const page = await fetchWith(url, { download_fail_on_dataloss: false, download_maxsize: 0 });
    expect(page.flags).toEqual(['dataloss']);
    expect(page.body.length).toBeGreaterThan(1_000);
    expect(text.startsWith(page.body.toString())).toBe(true);
  }
});

test('a whole body has no flags, also where dataloss is allowed', async () => {
  const url = await site((_request, response) => void response.end('whole'));
  expect((await fetchWith(url, { download_fail_on_dataloss: false })).flags).toEqual([]);
});
