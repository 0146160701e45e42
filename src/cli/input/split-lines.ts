/** Splits streams into lines. */
import type { Readable } from 'node:stream';

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

/**
 * The lines of a text, without their line ends, as lists: a file may have many millions. A line may be longer than the most
 * characters, but far more are never kept of it.
 */
export async function* splitLines(stream: Readable, mostCharacters: number): AsyncGenerator<string[]> {
  let rest = '';
  // A carriage return at the end of a chunk: the next chunk may start with its line feed.
  let held = '';
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const text = held + piece;
    held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(LINE_END);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    if (rest.length > mostCharacters) rest = rest.slice(0, mostCharacters + 1);
    yield lines;
  }
  if (rest !== '') yield [rest];
}
