/** The HTTP cache: what is stored, what comes from it, and what its files are like. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpCacheOptions, withHttpCache } from '../../../src/downloader/cache/cached-downloader.js';
import { createDownloader, type DownloadRequest } from '../../../src/downloader/downloader.js';
import { fingerprint } from '../../../src/http/message/fingerprint.js';
import { Request } from '../../../src/http/message/request.js';
import { silentLogger } from '../../../src/log.js';
import { asPage, downloaderOptions } from '../../helpers/downloader/default-options.js';
import { type TempDir, tempDir } from '../../helpers/temp-dir.js';

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];
let folder: TempDir;
let url: string;
let asked: number;
let status: number;

beforeEach(async () => {
  folder = tempDir('http-cache');
  [asked, status] = [0, 200];
  const server = http.createServer((request, response) => {
    asked += 1;
    if (request.url === '/hang') return;
    response.writeHead(status, { 'set-cookie': ['a=1', 'b=2'], 'x-nth': asked }).end(`größe ${asked}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  folder.remove();
});

function cached(options: Partial<HttpCacheOptions> = {}) {
  const downloader = createDownloader(downloaderOptions);
  const cache = withHttpCache(downloader, {
    dir: path.join(folder.dir, 'cache', 'news'),
    maxAgeMs: 0,
    ignoredStatuses: [],
    failsIfMissing: false,
    ignoredSchemes: [],
    isCompressed: false,
    fingerprint: ({ url: page }) => fingerprint(new Request(page)),
    log: silentLogger,
    ...options,
  });
  cleanups.push(() => cache.close());
  return cache;
}

function get(page = url, more: Partial<DownloadRequest> = {}): DownloadRequest {
  return { url: page, method: 'GET', headers: {}, body: null, cookies: null, ...more };
}

const files = () =>
  readdirSync(folder.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));

test.each([false, true])(
  'a page is downloaded once, and then comes from its file (compressed: %s)',
  async (isCompressed) => {
    const first = await cached({ isCompressed }).fetch(get(), asPage, never);
    expect(first).toMatchObject({ cache: 'stored', flags: [] });
    const again = await cached({ isCompressed }).fetch(get(), asPage, never);
    const { status: code, headers, body, fromPrivateAddress } = first;
    expect(again).toMatchObject({
      url,
      status: code,
      headers,
      body,
      fromPrivateAddress,
      cache: 'hit',
      flags: ['cached'],
    });
    expect(asked).toBe(1);
  },
);

test('the files are for this user alone, and no others are left', async () => {
  const { fetch } = cached();
  await Promise.all([1, 2, 3, 4].map(() => fetch(get(), asPage, never)));
  const [file, ...more] = files();
  expect(more).toEqual([]);
  expect(statSync(file!).mode & 0o777).toBe(0o600);
  for (let dir = path.dirname(file!); dir !== folder.dir; dir = path.dirname(dir)) {
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  }
});

test('a damaged file counts as missing, and is replaced', async () => {
  await cached().fetch(get(), asPage, never);
  const [file] = files();
  for (const damaged of ['', '{}', 'x\ny', readFileSync(file!).subarray(0, -1)]) {
    writeFileSync(file!, damaged);
    expect(await cached().fetch(get(), asPage, never)).toMatchObject({ cache: 'stored' });
    expect(await cached().fetch(get(), asPage, never)).toMatchObject({ cache: 'hit' });
  }
});

test('an old page, a retry, an ignored scheme and dont_cache are downloaded again', async () => {
  await cached().fetch(get(), asPage, never);
  expect((await cached({ ignoredSchemes: ['http'] }).fetch(get(), asPage, never)).cache).toBeUndefined();
  expect(
    (await cached().fetch(get(url, { meta: { dont_cache: true } }), asPage, never)).cache,
  ).toBeUndefined();
  expect(await cached().fetch(get(url, { attempts: 1 }), asPage, never)).toMatchObject({ cache: 'stored' });
  expect(await cached({ maxAgeMs: 60_000 }).fetch(get(), asPage, never)).toMatchObject({ cache: 'hit' });
  const [file] = files();
  const text = readFileSync(file!, 'utf8').replace(/"storedAtMs":\d+/, `"storedAtMs":${Date.now() - 61_000}`);
  writeFileSync(file!, text);
  expect(await cached({ maxAgeMs: 60_000 }).fetch(get(), asPage, never)).toMatchObject({ cache: 'stored' });
  expect(asked).toBe(5);
});

test('a status that is ignored is not stored', async () => {
  status = 503;
  const options = { ignoredStatuses: [503] };
  expect((await cached(options).fetch(get(), asPage, never)).cache).toBeUndefined();
  status = 404;
  expect(await cached(options).fetch(get(), asPage, never)).toMatchObject({ status: 404, cache: 'stored' });
});

test('without the network a page that is missing fails as not_cached', async () => {
  await cached().fetch(get(), asPage, never);
  const { fetch } = cached({ failsIfMissing: true });
  expect(await fetch(get(), asPage, never)).toMatchObject({ cache: 'hit' });
  await expect(fetch(get(`${url}other`), asPage, never)).rejects.toMatchObject({
    reason: 'not_cached',
    retryable: false,
  });
  expect(asked).toBe(1);
});

test('a download through the cache can be aborted, before and after it begins', async () => {
  const { start, fetch } = cached();
  const early = start(get(`${url}hang`), asPage);
  early.abort();
  await expect(early.result).rejects.toMatchObject({ reason: 'aborted' });
  const stop = new AbortController();
  const late = fetch(get(`${url}hang`), asPage, stop.signal);
  await expect.poll(() => asked).toBe(1);
  stop.abort();
  await expect(late).rejects.toMatchObject({ reason: 'aborted' });
  expect(files()).toEqual([]);
});
