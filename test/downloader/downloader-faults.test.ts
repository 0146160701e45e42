/** Hostile answers, from raw sockets: each ends in a named error, and the next download is fine. */
import type { Socket } from 'node:net';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import {
  createDownloader,
  type DownloaderOptions,
  type DownloadRequest,
} from '../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../helpers/downloader/default-options.js';
import { type Answer, httpAnswer, rawSite } from '../helpers/sites/raw-site.js';

const never = new AbortController().signal;
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A hostile site that answers `/good` well, and a downloader for it. */
async function against(answer: Answer, options: Partial<DownloaderOptions> = {}) {
  const site = await rawSite((socket, head, nth) => {
    if (head.startsWith('GET /good ')) socket.write(httpAnswer('good'));
    else answer(socket, head, nth);
  });
  const downloader = createDownloader({ ...downloaderOptions, ...options });
  cleanups.push(site.close, () => downloader.close());
  const fetch = (path: string, more: Partial<DownloadRequest> = {}) =>
    downloader.fetch(
      { url: site.url + path, method: 'GET', headers: {}, body: null, cookies: null, ...more },
      asPage,
      never,
    );
  return { site, fetch };
}

/** The failure of a bad page, and proof that good pages before, beside and after it are fetched. */
async function failure(answer: Answer, options: Partial<DownloaderOptions> = {}) {
  const { fetch } = await against(answer, options);
  expect((await fetch('good')).body.toString()).toBe('good');
  const [bad, beside] = await Promise.all([fetch('bad').catch((error) => error), fetch('good')]);
  expect(beside.body.toString()).toBe('good');
  expect((await fetch('good')).body.toString()).toBe('good');
  return bad;
}

const MB = 1024 * 1024;
const zeros = Buffer.alloc(64 * MB);
const gzipBomb = zlib.gzipSync(zeros);
const brotliBomb = zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });

test.each([
  ['gzip', 'gzip', gzipBomb],
  ['brotli', 'br', brotliBomb],
  ['twice packed gzip', 'gzip, gzip', zlib.gzipSync(gzipBomb)],
])('a %s bomb is refused by its ratio, even without a limit on size', async (_name, encoding, bomb) => {
  const error = await failure((socket) => socket.write(httpAnswer(bomb, [`content-encoding: ${encoding}`])));
  expect(error).toMatchObject({ reason: 'too_large', retryable: false });
  expect(error.message).toContain('inflates');
});

test('a body that decodes to more than the limit is refused, and one that just fits is not', async () => {
  const packed = zlib.gzipSync('x'.repeat(1000));
  const answer: Answer = (socket) => socket.write(httpAnswer(packed, ['content-encoding: gzip']));
  expect(await failure(answer, { maxBodyBytes: 999 })).toMatchObject({ reason: 'too_large' });
  expect((await failure(answer, { maxBodyBytes: 1000 })).body).toHaveLength(1000);
});

test('a body announced as too large is refused before it is read', async () => {
  const error = await failure(
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000000000\r\n\r\n'),
    {
      maxBodyBytes: MB,
    },
  );
  expect(error).toMatchObject({ reason: 'too_large' });
});

test('an endless body is cut off at the limit and its connection closed', async () => {
  const gone: Promise<void>[] = [];
  const endless: Answer = (socket) => {
    gone.push(new Promise((resolve) => socket.on('close', () => resolve())));
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  };
  expect(await failure(endless, { maxBodyBytes: MB })).toMatchObject({ reason: 'too_large' });
  await Promise.all(gone);
});

test.each([
  ['an unknown encoding', 'sdch', 'anything', 'bad_encoding', false],
  ['an unknown encoding below a known one', 'compress, gzip', zlib.gzipSync('x'), 'bad_encoding', false],
  ['more encodings than anybody needs', 'gzip, gzip, gzip, gzip, gzip, gzip', 'x', 'bad_encoding', false],
  ['plain text said to be gzip', 'gzip', '<p>plain', 'bad_encoding', false],
  ['plain text said to be brotli', 'br', '<p>plain text, long enough to be wrong', 'bad_encoding', false],
  ['a truncated gzip body', 'gzip', zlib.gzipSync('x'.repeat(9999)).subarray(0, 30), 'body_truncated', true],
])('%s is an error and never handed on', async (_name, encoding, body, reason, retryable) => {
  const error = await failure((socket) => socket.write(httpAnswer(body, [`content-encoding: ${encoding}`])));
  expect(error).toMatchObject({ name: 'DownloadError', reason, retryable });
});

const ok = 'HTTP/1.1 200 OK\r\n';

test.each([
  ['a body shorter than its content-length', `${ok}content-length: 100\r\n\r\nshort`, 'body_truncated'],
  [
    'a chunked body without its end',
    `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    'body_truncated',
  ],
  ['a chunk without its end', `${ok}transfer-encoding: chunked\r\n\r\n500\r\nhello`, 'body_truncated'],
  ['a broken chunk size', `${ok}transfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`, 'bad_framing'],
  ['two content-lengths', `${ok}content-length: 3\r\ncontent-length: 5\r\n\r\nhello`, 'bad_framing'],
  [
    'content-length with chunked',
    `${ok}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'bad_framing',
  ],
  ['a control character in a header name', `${ok}x\u0001y: 1\r\ncontent-length: 0\r\n\r\n`, 'bad_header'],
  ['a NUL in a header', `${ok}x: a\u0000b\r\ncontent-length: 0\r\n\r\n`, 'bad_header'],
  ['a greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'not_http'],
  ['a connection closed in the headers', `${ok}content-type: text/ht`, 'connection_reset'],
  ['a connection closed without a response', '', 'connection_reset'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'bad_response',
  ],
])('%s is an error that may be tried again', async (_name, bytes, reason) => {
  const error = await failure((socket) => socket.end(bytes, 'latin1'));
  expect(error).toMatchObject({ name: 'DownloadError', reason, retryable: true });
});

test('headers larger than Node reads are an error with a name', async () => {
  const error = await failure((socket) => socket.write(httpAnswer('x', [`x-long: ${'y'.repeat(20_000)}`])));
  expect(error).toMatchObject({ reason: 'headers_too_large', retryable: false });
});

test('none of 2,000 headers is dropped, and a header named __proto__ does nothing', async () => {
  const { fetch } = await against((socket) => {
    const many = Array.from({ length: 2000 }, (_, i) => `${i}: `);
    socket.write(httpAnswer('x', [...many, '__proto__: evil', 'last: 1']));
  });
  const { headers } = await fetch('many');
  expect(headers.last).toBe('1');
  expect(Object.keys(headers)).toHaveLength(2002);
  expect(({} as Record<string, unknown>).evil).toBeUndefined();
});

test('a flood of interim answers is cut off, a few are skipped', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
  const flood = await failure((socket) => socket.write(interim.repeat(1000)));
  expect(flood).toMatchObject({ reason: 'bad_response' });
  const few = await failure((socket) => socket.write(interim.repeat(3) + httpAnswer('x').toString()));
  expect(few.status).toBe(200);
});

const trickle = (socket: Socket, bytes: string) => {
  const timer = setInterval(() => socket.write(bytes), 20);
  socket.on('close', () => clearInterval(timer));
};

test.each<[string, Answer]>([
  ['never answers', () => {}],
  [
    'sends its headers bit by bit without end',
    (socket) => {
      socket.write(ok);
      trickle(socket, 'x: y\r\n');
    },
  ],
  ['stops in the middle of a body', (socket) => void socket.write(`${ok}content-length: 10\r\n\r\nhello`)],
  [
    'sends a body byte by byte',
    (socket) => {
      socket.write(`${ok}content-length: 100000\r\n\r\n`);
      trickle(socket, 'x');
    },
  ],
])('a server that %s runs into the timeout', async (_name, answer) => {
  const closed: Promise<void>[] = [];
  const error = await failure(
    (socket, head, nth) => {
      closed.push(new Promise((resolve) => socket.on('close', () => resolve())));
      answer(socket, head, nth);
    },
    { timeoutMs: 400 },
  );
  expect(error).toMatchObject({ reason: 'timeout', retryable: true });
  await Promise.all(closed);
});

test('bytes beyond the content-length never reach the next request', async () => {
  const smuggled = httpAnswer('smuggled');
  const { fetch } = await against((socket) => socket.write(Buffer.concat([httpAnswer('first'), smuggled])));
  await fetch('bad').catch(() => {});
  for (let i = 0; i < 5; i += 1) expect((await fetch('good')).body.toString()).toBe('good');
});

test('a connection on which the server speaks unasked is not used again', async () => {
  let spoken: () => void;
  const closed = new Promise<void>((resolve) => {
    spoken = resolve;
  });
  const { fetch, site } = await against((socket) => {
    socket.on('close', () => spoken());
    socket.write(httpAnswer('first'));
    setTimeout(() => socket.write(httpAnswer('late')), 30);
  });
  expect((await fetch('bad')).body.toString()).toBe('first');
  await closed;
  expect((await fetch('good')).body.toString()).toBe('good');
  expect(site.connections).toBe(2);
});

test('a page is asked for again at once when its kept-alive connection had died', async () => {
  const { fetch, site } = await against((socket, _head, nth) => {
    if (nth === 2) socket.destroy();
    else socket.write(httpAnswer(`answer ${nth}`));
  });
  await fetch('one');
  expect((await fetch('two')).body.toString()).toBe('answer 3');
  expect(site.connections).toBe(2);
});

test('a connection that dies on every use fails, and a POST is never sent twice', async () => {
  const { fetch, site } = await against((socket, head) => {
    if (head.includes('/one')) socket.write(httpAnswer('one'));
    else socket.destroy();
  });
  await fetch('one');
  await expect(fetch('two')).rejects.toMatchObject({ reason: 'connection_reset' });
  expect(site.requests).toHaveLength(3);
  await fetch('one');
  const before = site.requests.length;
  await expect(fetch('two', { method: 'POST' })).rejects.toMatchObject({ reason: 'connection_reset' });
  expect(site.requests).toHaveLength(before + 1);
});
