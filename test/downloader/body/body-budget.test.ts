/** Many large bodies at once: the node holds a bounded number of bytes, and every body comes whole in its turn. */
import type { Socket } from 'node:net';
import zlib from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createDownloader, type DownloaderOptions } from '../../../src/downloader/downloader.js';
import { downloaderOptions } from '../../helpers/downloader/default-options.js';
import { type Answer, httpAnswer, rawSite } from '../../helpers/sites/raw-site.js';
import { waitFor } from '../../helpers/wait-for.js';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const MB = 1024 * 1024;

async function against(answer: Answer, options: Partial<DownloaderOptions>) {
  const site = await rawSite(answer);
  const downloader = createDownloader({
    ...downloaderOptions,
    timeoutMs: 20_000,
    bufferBytes: 8 * MB,
    concurrency: 16,
    ...options,
  });
  cleanups.push(site.close, () => downloader.close());
  return (path: string) =>
    downloader.start({ url: site.url + path, method: 'GET', headers: {}, body: null, cookies: null });
}

/** Pour bytes into a socket as it takes them. @returns how many it took, so far. */
function pour(socket: Socket, total: number): { readonly sent: number } {
  const state = { sent: 0 };
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const more = () => {
    while (!socket.destroyed && state.sent < total) {
      state.sent += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', more);
  more();
  return state;
}

test('bodies that together exceed the budget all come whole', async () => {
  const size = 6 * MB;
  const start = await against((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
    pour(socket, size);
  }, {});
  const bodies = await Promise.all(Array.from({ length: 8 }, (_, n) => start(`${n}`).result));
  expect(bodies.map(({ body }) => body.length)).toEqual(Array(8).fill(size));
});

test('over the budget the oldest body reads on to its end while the others pause, without a stall or a timeout', async () => {
  const sent: { readonly sent: number }[] = [];
  const maxBodyBytes = 200 * MB;
  const start = await against(
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      sent.push(pour(socket, Number.POSITIVE_INFINITY));
    },
    { maxBodyBytes, minBytesPerSecond: 1000 },
  );
  const oldest = start('oldest');
  await waitFor(() => (sent[0]?.sent ?? 0) > MB);
  const others = [1, 2, 3, 4].map((n) => start(`${n}`));
  await expect(oldest.result).rejects.toMatchObject({ reason: 'too_large' });
  // Socket buffers of the system hold a few MB of each beside the budget.
  for (const { sent: bytes } of sent.slice(1)) expect(bytes).toBeLessThan(32 * MB);
  expect(others.map(({ isStalled }) => isStalled)).toEqual([false, false, false, false]);
  for (const { result } of others) await expect(result).rejects.toMatchObject({ reason: 'too_large' });
});

test('an oldest body that stalls does not hold up the others', async () => {
  const size = 6 * MB;
  const start = await against((socket, head) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 * size}\r\n\r\n`);
    pour(socket, head.includes('/stalls') ? 1.5 * size : 2 * size);
  }, {});
  const stalls = start('stalls');
  const others = await Promise.all([1, 2, 3].map((n) => start(`${n}`).result));
  expect(others.map(({ body }) => body.length)).toEqual(Array(3).fill(2 * size));
  await waitFor(() => stalls.isStalled);
  stalls.abort();
  await expect(stalls.result).rejects.toMatchObject({ reason: 'aborted' });
});

test('bodies are counted while they inflate', async () => {
  const packed = zlib.gzipSync(Buffer.alloc(30 * MB, 'some text of a page '));
  const start = await against(
    (socket) =>
      socket.write(httpAnswer(Buffer.concat([packed, Buffer.alloc(0)]), ['content-encoding: gzip'])),
    {},
  );
  // 30 MB from 90 KB is more than the ratio allows; half of it is random in the answer below.
  await expect(start('bomb').result).rejects.toMatchObject({ reason: 'too_large' });
  const noise = Buffer.concat(
    Array.from({ length: 100 }, (_, n) => Buffer.alloc(100_000, `page ${n} ${Math.random()} `)),
  );
  const page = await against(
    (socket) => socket.write(httpAnswer(zlib.gzipSync(noise, { level: 0 }), ['content-encoding: gzip'])),
    {},
  );
  const bodies = await Promise.all(Array.from({ length: 6 }, (_, n) => page(`${n}`).result));
  for (const { body } of bodies) expect(body.equals(noise)).toBe(true);
});

test('a body slower than the minimum rate fails as too_slow, and is stalled long before', async () => {
  const start = await against(
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('x'), 100);
      socket.on('close', () => clearInterval(timer));
    },
    { minBytesPerSecond: 100, timeoutMs: 60_000 },
  );
  const slow = start('slow');
  await waitFor(() => slow.isStalled);
  await expect(slow.result).rejects.toMatchObject({ reason: 'too_slow', retryable: true });
}, 60_000);
