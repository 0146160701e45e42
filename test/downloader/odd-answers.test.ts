/** Answers that break the rules in ways which browsers, curl and Scrapy accept: their pages are read. */
import zlib from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createDownloader } from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { httpAnswer, rawSite } from '../helpers/sites/raw-site.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A site that answers everything but `/good` with `bytes`, all at once. */
async function against(bytes: string | Buffer) {
  const site = await rawSite((socket, head) =>
    socket.write(head.startsWith('GET /good ') ? httpAnswer('good') : Buffer.from(bytes as string, 'latin1')),
  );
  const downloader = createDownloader({
    ...downloaderOptions,
    maxBodyBytes: 20_000_000,
  });
  cleanups.push(site.close, () => downloader.close());
  const fetch = (path: string, isLenient = false) => {
    const request = { url: site.url + path, method: 'GET', headers: {}, body: null, cookies: null };
    return downloader.start(request, { ...asPage, isLenient }).result;
  };
  return { site, fetch };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const large = 'x'.repeat(200_000);

describe('more than the announced body', () => {
  test.each([
    ['in the same packet', `${ok}content-length: 3\r\n\r\ntoo long`, 'too'],
    ['behind a large one', `${ok}content-length: 200000\r\n\r\n${large}and more`, large],
    ['where the connection is to be closed', `${ok}content-length: 3\r\nconnection: close\r\n\r\ntoo`, 'too'],
    ['that looks like a second answer', `${ok}content-length: 3\r\n\r\ntoo${ok}\r\n`, 'too'],
    ['behind chunks', `${ok}transfer-encoding: chunked\r\n\r\n3\r\ntoo\r\n0\r\n\r\nlong`, 'too'],
    ['where the status has none', 'HTTP/1.1 204 No Content\r\n\r\nbody', ''],
  ])('%s is left out', async (_name, bytes, body) => {
    const { site, fetch } = await against(bytes);
    expect((await fetch('odd')).body.toString()).toBe(body);
    // The rest of it reaches nobody.
    expect((await fetch('good')).body.toString()).toBe('good');
    expect(site.requests).toHaveLength(2);
  });

  test('does not hide that the body is cut off', async () => {
    const { fetch } = await against(`${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`);
    await expect(fetch('odd')).rejects.toMatchObject({ reason: 'bad_framing', malformed: true });
  });
});

describe('gzip', () => {
  const text = 'a page of some length, '.repeat(100);
  const many = 'many pages, '.repeat(1_000_000);
  test.each([
    ['with garbage behind it', Buffer.concat([zlib.gzipSync(text), Buffer.from('garbage')]), text],
    [
      'with garbage behind two members',
      Buffer.concat([zlib.gzipSync(text), zlib.gzipSync('more'), Buffer.from('<!-- cached -->')]),
      `${text}more`,
    ],
    [
      'of a large page with garbage',
      Buffer.concat([zlib.gzipSync(many, { level: 0 }), Buffer.from('x')]),
      many,
    ],
  ])('%s is inflated up to there', async (_name, bytes, body) => {
    const { fetch } = await against(httpAnswer(bytes, ['content-encoding: gzip']));
    expect((await fetch('odd')).body.toString()).toBe(body);
  });

  test('whose second member is cut off is cut off', async () => {
    const bytes = Buffer.concat([zlib.gzipSync(text), zlib.gzipSync(text).subarray(0, 15)]);
    const { fetch } = await against(httpAnswer(bytes, ['content-encoding: gzip']));
    await expect(fetch('odd')).rejects.toMatchObject({ reason: 'body_truncated', retryable: true });
  });

  test.each([
    [['transfer-encoding: gzip, chunked'], zlib.gzipSync(text)],
    [
      ['content-encoding: br', 'transfer-encoding: gzip, chunked'],
      zlib.gzipSync(zlib.brotliCompressSync(text)),
    ],
  ])('as a coding of the transfer is undone: %s', async (headers, bytes) => {
    const chunk = Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const { fetch } = await against(httpAnswer(chunk, headers));
    expect((await fetch('odd')).body.toString()).toBe(text);
  });
});

describe('what the parser refuses', () => {
  test.each([
    ['lines that end in LF only', 'HTTP/1.1 200 OK\ncontent-length: 5\n\nhello', 'bad_header'],
    ['a folded header', `${ok}x-a: one\r\n two\r\ncontent-length: 5\r\n\r\nhello`, 'bad_header'],
    ['a control character in a header', `${ok}x-a: \u0001\r\ncontent-length: 5\r\n\r\nhello`, 'bad_header'],
    [
      'a content-length beside chunks',
      `${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      'bad_framing',
    ],
  ])('%s is read by a lenient parse, on a connection of its own', async (_name, bytes, reason) => {
    const { site, fetch } = await against(bytes);
    await fetch('good');
    await expect(fetch('odd')).rejects.toMatchObject({ reason, retryable: true, malformed: true });
    const before = site.connections;
    expect((await fetch('odd', true)).body.toString()).toBe('hello');
    expect((await fetch('good')).body.toString()).toBe('good');
    // The lenient connection, and one in place of that which the refused answer has cost.
    expect(site.connections).toBe(before + 2);
  });

  test.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'not_http'],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n', 'bad_status'],
    [
      'a chunk size that is no number',
      `${ok}transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n`,
      'bad_framing',
    ],
  ])('%s stays refused, under its name', async (_name, bytes, reason) => {
    const { fetch } = await against(bytes);
    for (const isLenient of [false, true]) {
      await expect(fetch('odd', isLenient)).rejects.toMatchObject({ reason, malformed: true });
    }
  });
});
