/** Cut a stream into lines, each with its line feed; a last one without gets it. */
import type { Readable } from 'node:stream';

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
