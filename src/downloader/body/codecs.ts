/** The content encodings that this version of Node can decode. */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';

/** A decompression stream of zlib. */
export interface Inflater extends Transform {
  /** Bytes of the input that were read. Data after the end of the compressed data is not. */
  readonly bytesWritten: number;
}

export interface Codec {
  readonly sync: (bytes: Buffer, options: { maxOutputLength: number; finishFlush?: number }) => Buffer;
  readonly stream: (options: { chunkSize: number; finishFlush?: number }) => Inflater;
  /** As `finishFlush` it gives what an incomplete body holds, instead of an error. Absent where nothing does. */
  readonly partialFlush?: number;
}

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants;
const gzip: Codec = { sync: zlib.gunzipSync, stream: zlib.createGunzip, partialFlush: Z_SYNC_FLUSH };
const inflate: Codec = { sync: zlib.inflateSync, stream: zlib.createInflate, partialFlush: Z_SYNC_FLUSH };
/** Deflated data without a header, as a member of gzip contains it. */
export const inflateRaw: Codec = {
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

/** The `accept-encoding` header. */
export const acceptedEncodings = zstd === null ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd';

/** For `deflate` some servers send raw data without the zlib header, which has 8 in the low nibble of its first byte. */
const codecsByName = new Map<string, (bytes: Buffer) => Codec>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  ['deflate', (bytes) => ((bytes[0]! & 0x0f) === 8 ? inflate : inflateRaw)],
  ['br', () => brotli],
]);
if (zstd !== null) codecsByName.set('zstd', () => zstd);

/** @param encoding in lower case. */
export function isKnownEncoding(encoding: string): boolean {
  return codecsByName.has(encoding);
}

/** @param encoding a known one. @param bytes not empty. */
export function codecFor(encoding: string, bytes: Buffer): Codec {
  return codecsByName.get(encoding)!(bytes);
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
