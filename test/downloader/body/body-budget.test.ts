/** Many large bodies at once: the node holds a bounded number of bytes, and every body comes whole in its turn. */
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import zlib from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { BodyBudget, BodyShare } from '../../../src/downloader/body/body-budget.js';
import { createDownloader, type DownloaderOptions } from '../../../src/downloader/downloader.js';
import { asPage, downloaderOptions } from '../../helpers/downloader/default-options.js';
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
    downloader.start({ url: site.url + path, method: 'GET', headers: {}, body: null, cookies: null }, asPage);
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
  const maxBodyBytes = 64 * MB;
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

/** A server that stalls after 9 MB of the path `/stalls`, and serves any other path with 12 MB. */
const stallsOnce: Answer = (socket, head) => {
  const size = 12 * MB;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
  pour(socket, head.includes('/stalls') ? 9 * MB : size);
};

test('an oldest body that stalls does not hold up the others', async () => {
  const start = await against(stallsOnce, { bufferBytes: 16 * MB });
  const stalls = start('stalls');
  const others = await Promise.all([1, 2, 3].map((n) => start(`${n}`).result));
  expect(others.map(({ body }) => body.length)).toEqual(Array(3).fill(12 * MB));
  await waitFor(() => stalls.isStalled);
  stalls.abort();
  await expect(stalls.result).rejects.toMatchObject({ reason: 'aborted' });
});

test('a stalled body ends as a timeout when all bodies hold twice the limit', async () => {
  const start = await against(stallsOnce, { bufferBytes: 4 * MB });
  const stalls = start('stalls');
  const ended = expect(stalls.result).rejects.toMatchObject({
    reason: 'timeout',
    message: expect.stringContaining('stalled after 9437184 bytes'),
  });
  const others = await Promise.all([1, 2, 3].map((n) => start(`${n}`).result));
  expect(others.map(({ body }) => body.length)).toEqual(Array(3).fill(12 * MB));
  await ended;
});

describe('a budget of 100 MB', () => {
  /** A body that announced so much and holds a part of it; the stream is paused and resumed by the budget. */
  function body(budget: BodyBudget, atMostBytes: number, heldBytes: number) {
    const source = new PassThrough().resume();
    const share = new BodyShare(budget, { onPause: () => {}, onEvict: () => {} });
    share.readFrom(source, atMostBytes);
    share.add(heldBytes);
    return { share, source };
  }
  const arePaused = (bodies: ReturnType<typeof body>[]) => bodies.map(({ share }) => share.isPaused);

  test('never pauses bodies that fit into three quarters of it together', () => {
    const budget = new BodyBudget(100 * MB);
    const bodies = [1, 2, 3].map(() => body(budget, 25 * MB, 25 * MB));
    expect(arePaused(bodies)).toEqual([false, false, false]);
  });

  test('lets bodies of unknown length share an eighth of it beside the oldest', () => {
    const budget = new BodyBudget(96 * MB);
    const oldest = body(budget, Number.POSITIVE_INFINITY, 60 * MB);
    const others = [6, 7].map((held) => body(budget, Number.POSITIVE_INFINITY, held * MB));
    expect(arePaused([oldest, ...others])).toEqual([false, false, true]);
    others[0]!.share.add(1);
    expect(arePaused([oldest, ...others])).toEqual([false, true, true]);
    oldest.share.close();
    expect(arePaused(others)).toEqual([false, false]);
  });

  test('pauses them all while they hold half of it: they began when there were fewer', () => {
    const budget = new BodyBudget(96 * MB);
    const [, ...others] = [60, 11, 11, 11, 11].map((held) =>
      body(budget, Number.POSITIVE_INFINITY, held * MB),
    );
    const young = body(budget, Number.POSITIVE_INFINITY, 2 * MB);
    expect(young.share.isPaused).toBe(false);
    const last = body(budget, Number.POSITIVE_INFINITY, 3 * MB);
    expect(arePaused([...others, young, last])).toEqual(Array(6).fill(true));
  });

  test('a body rests for a moment after each megabyte, so that its server does not take the loop from others', async () => {
    const { share, source } = body(new BodyBudget(100 * MB), 10 * MB, MB);
    expect([source.isPaused(), share.isPaused]).toEqual([true, false]);
    await waitFor(() => !source.isPaused());
    share.add(MB - 1);
    expect(source.isPaused()).toBe(false);
    share.add(1);
    expect(source.isPaused()).toBe(true);
  });

  test('pauses no body below 256 KiB', () => {
    const budget = new BodyBudget(100 * MB);
    const large = [1, 2].map(() => body(budget, Number.POSITIVE_INFINITY, 90 * MB));
    const small = body(budget, Number.POSITIVE_INFINITY, 255 * 1024);
    expect(arePaused([...large, small])).toEqual([false, true, false]);
  });
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
    { minBytesPerSecond: 100, rateWindowMs: 3_000, timeoutMs: 60_000 },
  );
  const slow = start('slow');
  await waitFor(() => slow.isStalled);
  await expect(slow.result).rejects.toMatchObject({
    ...{ reason: 'too_slow', retryable: true },
    message: expect.stringContaining('less than 100 bytes a second for 3 s'),
  });
});
