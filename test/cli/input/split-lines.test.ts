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
    for await (const line of splitLines(Readable.from(pieces, { objectMode: false }))) lines.push(line);
    expect(lines).toEqual(['one', '', 'zwei ß', 'three', '', 'four\u2028still', '\u{1F600}']);
  }
});
