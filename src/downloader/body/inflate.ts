/** Inflates a body in the thread pool, piece by piece, so that its size can be limited and counted. */
import { DownloadError } from '../download-error.js';
import type { BodyBytes } from './body-bytes.js';
import type { Codec, Inflater } from './codecs.js';

/** Output of one task of the thread pool. Larger than zlib's 16 KiB, since each task also takes a turn of the main loop. */
const MAX_CHUNK_BYTES = 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;

/** Observes a body while the thread pool inflates it. */
export interface InflateWatch {
  /** Receives the stream, which may be paused, or destroyed to abort. */
  onStart(stream: Inflater): void;
  onBytes(bytes: number): void;
}

export interface InflateOptions {
  /** A longer output is an error with code `ERR_BUFFER_TOO_LARGE`. */
  readonly maxBytes: number;
  /** The rest is dropped when the output has this length. */
  readonly stopAtBytes: number;
  /** An input that ends too early gives what it holds. */
  readonly mayBePartial: boolean;
  readonly watch: InflateWatch;
}

/**
 * Inflate `bytes` and add the output to `into`, whose length the limits apply to.
 * @returns the number of input bytes that were read.
 * @throws the error of zlib; DownloadError `aborted` when the watch destroyed the stream.
 */
export function inflateInto(
  into: BodyBytes,
  bytes: Buffer,
  codec: Codec,
  { maxBytes, stopAtBytes, mayBePartial, watch }: InflateOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = codec.stream({ chunkSize: chunkSizeFor(bytes), ...flushOf(codec, mayBePartial) });
    const end = () => {
      resolve(stream.bytesWritten);
      stream.destroy();
    };
    watch.onStart(stream);
    stream.on('data', (chunk: Buffer) => {
      if (into.length + chunk.length > maxBytes) return void stream.destroy(tooLarge());
      into.add(chunk);
      watch.onBytes(chunk.length);
      if (into.length < stopAtBytes) return;
      into.truncate(stopAtBytes);
      end();
    });
    stream.on('end', end);
    stream.on('error', reject);
    // Closed before its end, so destroyed by the watch: the download has ended already.
    stream.on('close', () => reject(new DownloadError('aborted', 'the download was aborted')));
    stream.end(bytes);
  });
}

/** The option for zlib that makes it return what an incomplete body holds; none if it should fail. */
export function flushOf({ partialFlush }: Codec, mayBePartial: boolean): { finishFlush?: number } {
  return mayBePartial && partialFlush !== undefined ? { finishFlush: partialFlush } : {};
}

/** The error with the code that zlib uses for its own limit. */
function tooLarge(): Error {
  return Object.assign(new Error('the output is too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
}

function chunkSizeFor({ length }: Buffer): number {
  return Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, 4 * length));
}
