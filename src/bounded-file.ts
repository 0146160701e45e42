/** Reads a small file that somebody names. A device without an end or a named pipe without a writer may be in its place. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;
const PIPE_POLL_MS = 10;

/**
 * The bytes of a file, or of a pipe that ends.
 * @throws Error that says why it cannot be read, without its path: it is larger than `maxBytes`, or a pipe that nothing writes to
 */
export function readBoundedFile(file: string, maxBytes: number): Buffer {
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const count = readOrWait(descriptor, chunk);
      if (count === 0) break;
      chunks.push(chunk.subarray(0, count));
      bytes += count;
      if (bytes > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    }
    if (bytes === 0 && fstatSync(descriptor).isFIFO())
      throw new Error('it is a named pipe, and nothing writes to it');
    return Buffer.concat(chunks);
  } finally {
    closeSync(descriptor);
  }
}

/** @returns how many bytes were read; 0 at the end */
function readOrWait(descriptor: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // A writer has the pipe open, and has written nothing so far.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_POLL_MS);
    }
  }
}
