/** Lines of a stream, wherever it was cut. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { splitLines } from '../../../src/cli/input/split-lines.js';

it('the lines of a text are the same however it comes in pieces', async () => {
  const bytes = Buffer.from('one\r\n\r\nzwei ß\rthree\n\nfour\u2028still\r\n\u{1F600}\r');
  for (let size = 1; size <= bytes.length; size++) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    const lines: string[] = [];
    const stream = Readable.from(pieces, { objectMode: false });
    for await (const some of splitLines(stream, 100)) lines.push(...some);
    expect(lines).toEqual(['one', '', 'zwei ß', 'three', '', 'four\u2028still', '\u{1F600}']);
  }
});

it('of a line without an end little more is kept than it may have, and far longer ones are refused', async () => {
  const linesOf = async (thousands: number) => {
    const pieces = Array.from({ length: thousands }, () => Buffer.alloc(1_000, 'x'));
    const lines: string[] = [];
    const stream = Readable.from([...pieces, Buffer.from('\nnext\n')], { objectMode: false });
    for await (const some of splitLines(stream, 5_000)) lines.push(...some);
    return lines;
  };
  expect((await linesOf(300)).map((line) => line.length)).toEqual([5_001, 4]);
  await expect(linesOf(1_000)).rejects.toThrow('a line has more than 320,000 characters');
});
