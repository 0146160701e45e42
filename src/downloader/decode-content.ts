/**
 * Undo the content encodings of a body, bounded: got's own decompression inflates a bomb without a word and
 * hands over still-encoded bytes for an encoding it does not know.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { DownloadError } from './download-error.js';

/** Below this, inflating at once is cheaper than the way through the thread pool, and short enough not to be felt. */
const SYNC_BYTES = 64 * 1024;
/** Bodies may inflate freely up to this size; beyond it, by `MAX_RATIO` at most. Markup rarely passes 50, a bomb 1,000. */
const FREE_BYTES = 4 * 1024 * 1024;
const MAX_RATIO = 200;
const MAX_STACKED = 5;

interface Codec {
  readonly sync: (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;
  readonly async: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
}

const gzip: Codec = { sync: zlib.gunzipSync, async: promisify(zlib.gunzip) };
const inflate: Codec = { sync: zlib.inflateSync, async: promisify(zlib.inflate) };
const inflateRaw: Codec = { sync: zlib.inflateRawSync, async: promisify(zlib.inflateRaw) };
const brotli: Codec = { sync: zlib.brotliDecompressSync, async: promisify(zlib.brotliDecompress) };
const zstd = findZstd();

/** What goes into `accept-encoding`: only what this Node can decode. */
export const acceptedEncodings = zstd === null ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd';

/**
 * @param header the response's `content-encoding`; several are undone last to first (RFC 9110 §8.4).
 * @param maxBytes limit on the decoded size; 0 for none.
 * @returns the decoded bytes, or a promise of them where it is work for the thread pool.
 * @throws DownloadError `bad_encoding`, `too_large` or `body_truncated`, also through the promise.
 */
export function decodeContent(bytes: Buffer, header: string, maxBytes: number): Buffer | Promise<Buffer> {
  const encodings = header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MAX_STACKED)
    throw new DownloadError('bad_encoding', `${encodings.length} stacked encodings`);
  for (const name of encodings) {
    if (!known.has(name))
      throw new DownloadError('bad_encoding', `the content encoding "${printable(name)}" is not known`);
  }
  // An empty body is an empty body, whatever it is said to be encoded with.
  if (encodings.length === 0 || bytes.length === 0) return bytes;
  const limit = limitFor(bytes.length, maxBytes);
  encodings.reverse();
  return bytes.length <= SYNC_BYTES && encodings.length === 1
    ? decodeSync(bytes, encodings[0]!, limit)
    : decodeAll(bytes, encodings, limit);
}

/** Names of encodings; for `deflate`, zlib data starts with 8 in the low nibble, and some servers send it raw. */
const known = new Map<string, (bytes: Buffer) => Codec>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  ['deflate', (bytes) => ((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)],
  ['br', () => brotli],
]);
if (zstd !== null) known.set('zstd', () => zstd);

interface Limit {
  readonly bytes: number;
  readonly says: string;
}

function limitFor(wireBytes: number, maxBytes: number): Limit {
  const byRatio = Math.max(FREE_BYTES, wireBytes * MAX_RATIO);
  if (maxBytes > 0 && maxBytes <= byRatio) return { bytes: maxBytes, says: `more than ${maxBytes} bytes` };
  return { bytes: byRatio, says: `more than ${byRatio} bytes from ${wireBytes}` };
}

function decodeSync(bytes: Buffer, name: string, limit: Limit): Buffer {
  try {
    return known.get(name)!(bytes).sync(bytes, { maxOutputLength: limit.bytes });
  } catch (error) {
    throw decodingError(error, name, limit);
  }
}

async function decodeAll(bytes: Buffer, encodings: readonly string[], limit: Limit): Promise<Buffer> {
  let decoded = bytes;
  for (const name of encodings) {
    if (decoded.length === 0) return decoded;
    try {
      decoded = await known.get(name)!(decoded).async(decoded, { maxOutputLength: limit.bytes });
    } catch (error) {
      throw decodingError(error, name, limit);
    }
  }
  return decoded;
}

function decodingError(error: unknown, name: string, limit: Limit): DownloadError {
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

/** zstd came with Node 22.15 and 23.8; the types of Node 20 do not know it. */
function findZstd(): Codec | null {
  const { zstdDecompress, zstdDecompressSync } = zlib as unknown as {
    zstdDecompress?: typeof zlib.gunzip;
    zstdDecompressSync?: Codec['sync'];
  };
  if (!zstdDecompress || !zstdDecompressSync) return null;
  return { sync: zstdDecompressSync, async: promisify(zstdDecompress) };
}
