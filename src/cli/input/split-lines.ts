/** Cutting streams into lines. */
import type { Readable } from 'node:stream';

/** Each line with its line feed, as it comes; a last one without gets it. */
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

/** What ends a line that people wrote. Node's `readline` (24) adds U+2028 and U+2029, which a line of JSON may hold as they are. */
const LINE_END = /\r?\n|\r/;

/** The lines of a text, without their ends. What comes of a long one is put together without copying it. */
export async function* splitLines(stream: Readable): AsyncGenerator<string> {
  let rest = '';
  // A carriage return at the end of a piece: a line feed may follow in the next.
  let held = '';
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const text = held + piece;
    held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(LINE_END);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    for (const line of lines) yield line;
  }
  if (rest !== '') yield rest;
}
