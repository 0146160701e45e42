/** Splits streams into lines. */
import type { Readable } from 'node:stream';
import { n } from '../../format-amounts.js';

/** Call `onLine` for each line with its line feed. A missing line feed at the end is added. */
export function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(`${line}\n`);
  });
  stream.on('end', () => {
    if (rest !== '') onLine(`${rest}\n`);
  });
}

/** Node's `readline` (24) also splits at U+2028 and U+2029, which JSON text may contain unescaped. */
const LINE_END = /\r?\n|\r/;

/** A line of so many times the most characters is none: it is read from a device, or a file of another kind. */
const MOST_TIMES = 64;

/**
 * The lines of a text, without their line ends, as lists: a file may have many millions. A line may be longer than the most
 * characters, but far more are never kept of it. @throws Error for a line that is longer by far, such as one of /dev/zero
 */
export async function* splitLines(stream: Readable, mostCharacters: number): AsyncGenerator<string[]> {
  let rest = '';
  // A carriage return at the end of a chunk: the next chunk may start with its line feed.
  let held = '';
  let cut = 0;
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const text = held + piece;
    held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(LINE_END);
    lines[0] = rest + lines[0];
    if (lines.length > 1) cut = 0;
    rest = lines.pop() ?? '';
    if (rest.length > mostCharacters) {
      cut += rest.length - mostCharacters;
      if (cut > MOST_TIMES * mostCharacters)
        throw new Error(`a line has more than ${n(MOST_TIMES * mostCharacters)} characters`);
      rest = rest.slice(0, mostCharacters + 1);
    }
    yield lines;
  }
  if (rest !== '') yield [rest];
}
