/** The bytes of a body: small ones as they came, large ones in memory of their own. */
import { describe, expect, test } from 'vitest';
import { BodyBytes, LARGE_FROM_BYTES } from '../../../src/downloader/body/body-bytes.js';

const MB = 1024 * 1024;

/** Bytes that differ everywhere, so that a lost or misplaced one shows. */
function pattern(bytes: number): Buffer {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  for (let n = 0; n < words.length; n += 1) words[n] = Math.imul(n + 1, 2_654_435_761);
  return Buffer.from(words.buffer, 0, bytes);
}

function filled(whole: Buffer, chunkBytes: number): BodyBytes {
  const bytes = new BodyBytes();
  for (let at = 0; at < whole.length; at += chunkBytes) bytes.add(whole.subarray(at, at + chunkBytes));
  return bytes;
}

describe('the bytes of a body', () => {
  test.each([
    ['nothing', 0, 1],
    ['a single chunk', 100, 100],
    ['as much as a small body has', LARGE_FROM_BYTES, 60_000],
    ['one byte more', LARGE_FROM_BYTES + 1, 60_000],
    ['more than a segment, in chunks that do not divide it', 9 * MB + 7, 65_531],
    ['whole segments', 8 * MB, 65_536],
    ['one chunk that is longer than a segment', 10 * MB + 1, 11 * MB],
  ])('are %s', (_what, size, chunkBytes) => {
    const whole = pattern(size);
    const bytes = filled(whole, chunkBytes);
    expect(bytes.length).toBe(size);
    expect(bytes.take().equals(whole)).toBe(true);
    expect(bytes.length).toBe(0);
  });

  test.each([
    ['a small body', 100_000, 50_001],
    ['a small body to nothing', 100_000, 0],
    ['a large body within a segment', 9 * MB, 6 * MB + 3],
    ['a large body to whole segments', 9 * MB, 8 * MB],
    ['a large body to a few bytes', 9 * MB, 5],
    ['a large body to nothing', 9 * MB, 0],
    ['nothing away', 9 * MB, 9 * MB],
  ])('truncate %s, and go on from there', (_what, size, left) => {
    const whole = pattern(size);
    const bytes = filled(whole, 65_536);
    bytes.truncate(left);
    expect(bytes.length).toBe(left);
    const more = pattern(5 * MB);
    bytes.add(more);
    expect(bytes.take().equals(Buffer.concat([whole.subarray(0, left), more]))).toBe(true);
  });

  test('can be released, and filled again', () => {
    const bytes = filled(pattern(9 * MB), 65_536);
    bytes.release();
    expect(bytes.length).toBe(0);
    bytes.add(Buffer.from('again'));
    expect(bytes.take().toString()).toBe('again');
  });
});
