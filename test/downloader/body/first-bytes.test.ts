/** Of a robots.txt only the beginning is read: the rest is neither read nor decoded, whatever its encoding. */
import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createDownloader } from '../../../src/downloader/downloader.js';
import { downloaderOptions } from '../../helpers/downloader/default-options.js';
import { type Answer, httpAnswer, rawSite } from '../../helpers/sites/raw-site.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const MB = 1024 * 1024;
const FIRST = 500 * 1024;

async function fetchFirst(answer: Answer) {
  const site = await rawSite(answer);
  const downloader = createDownloader({
    ...downloaderOptions,
    maxBodyBytes: 64 * MB,
    robotsBytes: FIRST,
    timeoutMs: 30_000,
  });
  cleanups.push(site.close, () => downloader.close());
  const request = { url: site.url, method: 'GET', headers: {}, body: null, cookies: null };
  const { body } = await downloader.start(request, { purpose: 'robots' }).result;
  return body;
}

const rules = Buffer.alloc(16 * MB, 'Disallow: /some/path/of/a/site\n');
const begins = (body: Buffer) => rules.subarray(0, body.length).equals(body);

describe('of a body that goes on', () => {
  test.each([
    ['gzip', zlib.gzipSync(rules)],
    ['deflate', zlib.deflateSync(rules)],
    ['br', zlib.brotliCompressSync(rules, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ['gzip, gzip', zlib.gzipSync(zlib.gzipSync(rules))],
  ])('in %s, which inflates beyond every limit, the beginning is decoded', async (encoding, wire) => {
    const body = await fetchFirst((socket) =>
      socket.write(httpAnswer(wire, [`content-encoding: ${encoding}`])),
    );
    expect(body).toHaveLength(FIRST);
    expect(begins(body)).toBe(true);
  });

  test.each([
    ['no encoding', '', (bytes: Buffer) => bytes],
    ['gzip', 'content-encoding: gzip\r\n', (bytes: Buffer) => zlib.gzipSync(bytes, { level: 0 })],
    ['gzip in gzip', 'content-encoding: gzip, gzip\r\n', twice],
  ])('without end in %s, the server is left', async (_what, header, encode) => {
    const noise = randomBytes(3 * MB);
    const wire = encode(noise);
    let onClose = () => {};
    const left = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const body = await fetchFirst((socket) => {
      socket.on('close', onClose);
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n`);
      const pour = () => {
        while (!socket.destroyed && socket.write(wire));
      };
      socket.on('drain', pour);
      pour();
    });
    await left;
    expect(body.length).toBeGreaterThanOrEqual(FIRST);
    expect(body.subarray(0, FIRST).equals(noise.subarray(0, FIRST))).toBe(true);
  });

  test('an encoding that is longer than what it holds is bad_encoding', async () => {
    const empty = Buffer.concat(Array(100_000).fill(zlib.gzipSync('')));
    const fetching = fetchFirst((socket) => socket.write(httpAnswer(empty, ['content-encoding: gzip'])));
    await expect(fetching).rejects.toMatchObject({ reason: 'bad_encoding' });
  });
});

test.each(['gzip', 'gzip, gzip'])('a short body in %s comes whole', async (encoding) => {
  const packed = encoding === 'gzip' ? zlib.gzipSync('short') : zlib.gzipSync(zlib.gzipSync('short'));
  const answer = httpAnswer(packed, [`content-encoding: ${encoding}`]);
  expect((await fetchFirst((socket) => socket.write(answer))).toString()).toBe('short');
});

test('a short body that is cut is body_truncated', async () => {
  const cut = zlib.gzipSync('Disallow: /private').subarray(0, 25);
  const answer = httpAnswer(cut, ['content-encoding: gzip']);
  await expect(fetchFirst((socket) => socket.write(answer))).rejects.toMatchObject({
    reason: 'body_truncated',
  });
});

function twice(bytes: Buffer): Buffer {
  return zlib.gzipSync(zlib.gzipSync(bytes, { level: 0 }), { level: 0 });
}
