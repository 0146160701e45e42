/**
 * Decodes the content encodings of a body, with a limit on the size. got's own decompression is not used: it has no
 * limit, and returns encoded bytes for an encoding that it does not know.
 */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { DownloadError } from '../download-error.js';
import { leadingGzipMembers } from './gunzip-ignoring-rest.js';

/** Smaller bodies are decoded synchronously, which is cheaper than the thread pool and blocks only briefly. */
const SYNC_BYTES = 64 * 1024;
/** Up to this decoded size any ratio is allowed, beyond it `MAX_RATIO`. Markup rarely exceeds 50, a bomb has 1,000. */
const FREE_BYTES = 4 * 1024 * 1024;
const MAX_RATIO = 200;
const MAX_STACKED = 5;

/** Output of one task of the thread pool. Larger than zlib's 16 KiB, since each task also takes a turn of the main loop. */
const MAX_CHUNK_BYTES = 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;

interface Codec {
  readonly sync: (bytes: Buffer, options: { maxOutputLength: number; finishFlush?: number }) => Buffer;
  readonly stream: (options: { chunkSize: number; finishFlush?: number }) => Transform;
  /** As `finishFlush` it gives what an incomplete body holds, instead of an error. Absent where nothing does. */
  readonly partialFlush?: number;
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
const gzip: Codec = { sync: zlib.gunzipSync, stream: zlib.createGunzip, partialFlush: Z_SYNC_FLUSH };
const inflate: Codec = { sync: zlib.inflateSync, stream: zlib.createInflate, partialFlush: Z_SYNC_FLUSH };
const inflateRaw: Codec = {
  sync: zlib.inflateRawSync,
  stream: zlib.createInflateRaw,
  partialFlush: Z_SYNC_FLUSH,
};
const brotli: Codec = {
  sync: zlib.brotliDecompressSync,
  stream: zlib.createBrotliDecompress,
  partialFlush: BROTLI_OPERATION_FLUSH,
};
const zstd = findZstd();

/** Observes a body while the thread pool inflates it. */
export interface InflateWatch {
  /** Receives the stream, which may be paused, or destroyed to abort. */
  onStart(stream: Transform): void;
  onBytes(bytes: number): void;
}

/** The `accept-encoding` header: the encodings that this version of Node can decode. */
export const acceptedEncodings = zstd === null ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd';

/**
 * @param codings the `content-encoding` of the response and the codings of its `transfer-encoding`, in the order in which
 *   they were applied. They are decoded in reverse order (RFC 9110 §8.4).
 * @param maxBytes limit on the decoded size; 0 for none.
 * @param mayBePartial a body that ends too early gives what it holds, instead of `body_truncated`.
 * @returns the decoded bytes, or a promise of them when the thread pool decodes them.
 * @throws DownloadError `bad_encoding`, `too_large` or `body_truncated`, also through the promise.
 */
export function decodeContent(
  bytes: Buffer,
  codings: string,
  maxBytes: number,
  watch: InflateWatch,
  mayBePartial = false,
): Buffer | Promise<Buffer> {
  const encodings = codings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MAX_STACKED)
    throw new DownloadError('bad_encoding', `${encodings.length} stacked encodings`);
  for (const name of encodings) {
    if (!codecsByName.has(name))
      throw new DownloadError('bad_encoding', `the content encoding "${printable(name)}" is not known`);
  }
  // An empty body is valid with any encoding.
  if (encodings.length === 0 || bytes.length === 0) return bytes;
  const limit = { ...limitFor(bytes.length, maxBytes), mayBePartial };
  encodings.reverse();
  return bytes.length <= SYNC_BYTES && encodings.length === 1
    ? decodeSync(bytes, encodings[0]!, limit)
    : decodeAll(bytes, encodings, limit, watch);
}

/** For `deflate` some servers send raw data without the zlib header, which has 8 in the low nibble of its first byte. */
const codecsByName = new Map<string, (bytes: Buffer) => Codec>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  ['deflate', (bytes) => ((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)],
  ['br', () => brotli],
]);
if (zstd !== null) codecsByName.set('zstd', () => zstd);

interface Limit {
  readonly bytes: number;
  readonly says: string;
  readonly mayBePartial: boolean;
}

function limitFor(wireBytes: number, maxBytes: number): Omit<Limit, 'mayBePartial'> {
  const byRatio = Math.max(FREE_BYTES, wireBytes * MAX_RATIO);
  if (maxBytes > 0 && maxBytes <= byRatio) return { bytes: maxBytes, says: `more than ${maxBytes} bytes` };
  return { bytes: byRatio, says: `more than ${byRatio} bytes from ${wireBytes}` };
}

function decodeSync(bytes: Buffer, name: string, limit: Limit): Buffer | Promise<Buffer> {
  try {
    const codec = codecOf(bytes, name);
    return codec.sync(bytes, { maxOutputLength: limit.bytes, ...flushOf(codec, limit) });
  } catch (error) {
    return recoverFromError(error, bytes, name, limit);
  }
}

async function decodeAll(
  bytes: Buffer,
  encodings: readonly string[],
  limit: Limit,
  watch: InflateWatch,
): Promise<Buffer> {
  let decoded = bytes;
  for (const name of encodings) {
    if (decoded.length === 0) return decoded;
    const before = decoded;
    try {
      decoded = await inflated(before, codecOf(before, name), limit, watch);
    } catch (error) {
      decoded = await recoverFromError(error, before, name, limit);
    }
  }
  return decoded;
}

function inflated(bytes: Buffer, codec: Codec, limit: Limit, watch: InflateWatch): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = codec.stream({ chunkSize: chunkSizeFor(bytes), ...flushOf(codec, limit) });
    const chunks: Buffer[] = [];
    let length = 0;
    watch.onStart(stream);
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit.bytes) return void stream.destroy(tooLarge());
      chunks.push(chunk);
      watch.onBytes(chunk.length);
    });
    stream.on('end', () => resolve(Buffer.concat(chunks, length)));
    stream.on('error', reject);
    // Closed before its end, so destroyed by the watch: the download has ended already.
    stream.on('close', () => reject(new DownloadError('aborted', 'the download was aborted')));
    stream.end(bytes);
  });
}

/** The error with the code that zlib uses for its own limit. */
function tooLarge(): Error {
  return Object.assign(new Error('the output is too large'), { code: 'ERR_BUFFER_TOO_LARGE' });
}

function chunkSizeFor({ length }: Buffer): number {
  return Math.min(MAX_CHUNK_BYTES, Math.max(MIN_CHUNK_BYTES, 4 * length));
}

function flushOf({ partialFlush }: Codec, { mayBePartial }: Limit): { finishFlush?: number } {
  return mayBePartial && partialFlush !== undefined ? { finishFlush: partialFlush } : {};
}

function codecOf(bytes: Buffer, name: string): Codec {
  return codecsByName.get(name)!(bytes);
}

/** Decode gzip data that is followed by other data; any other error is final. @throws DownloadError */
async function recoverFromError(error: unknown, bytes: Buffer, name: string, limit: Limit): Promise<Buffer> {
  const { code } = error as NodeJS.ErrnoException;
  const mayHaveMore = code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR';
  if (!mayHaveMore || !name.endsWith('gzip')) throw decodingError(error, name, limit);
  try {
    const options = { chunkSize: chunkSizeFor(bytes), maxOutputLength: limit.bytes };
    const body = await leadingGzipMembers(bytes, options);
    if (body !== null) return body;
  } catch (second) {
    throw decodingError(second, name, limit);
  }
  throw decodingError(error, name, limit);
}

function decodingError(error: unknown, name: string, limit: Limit): DownloadError {
  if (error instanceof DownloadError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE') {
    return new DownloadError('too_large', `the ${name} body inflates to ${limit.says}`);
  }
  if (code === 'Z_BUF_ERROR') {
    return new DownloadError('body_truncated', `the ${name} body ends too early`, { cause: error });
  }
  return new DownloadError('bad_encoding', `the body is not valid ${name} (${message})`, { cause: error });
}

function printable(name: string): string {
  return name.slice(0, 40).replace(/[^\x20-\x7e]/g, '?');
}

/** zstd exists from Node 22.15 and 23.8 on; the types of Node 20 lack it. */
function findZstd(): Codec | null {
  const { createZstdDecompress, zstdDecompressSync } = zlib as unknown as {
    createZstdDecompress?: Codec['stream'];
    zstdDecompressSync?: Codec['sync'];
  };
  if (!createZstdDecompress || !zstdDecompressSync) return null;
  return { sync: zstdDecompressSync, stream: createZstdDecompress };
}
