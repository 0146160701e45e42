/** Decompress gzip content, detected by its first bytes, up to a size limit. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { CrawlnodeError, messageOf } from '../errors.js';

const gunzip = promisify(zlib.gunzip);
/** Some servers compress a file that is already compressed. */
const MAX_LAYERS = 3;

/** Content after decompression. */
export interface Decompressed {
  readonly bytes: Buffer;
  /** Set when the gzip ends in the middle: `bytes` is what comes before. */
  readonly damage: CrawlnodeError | null;
}

/**
 * @returns content that is not gzip unchanged.
 * @throws CrawlnodeError `bad_gzip` for damaged or too large content, and for a gzip that ends before its first byte of content
 */
export async function gunzipIfCompressed(bytes: Buffer, maxBytes: number): Promise<Decompressed> {
  let plain = bytes;
  let damage: CrawlnodeError | null = null;
  for (let layer = 0; layer < MAX_LAYERS && plain[0] === 0x1f && plain[1] === 0x8b; layer += 1) {
    try {
      plain = await gunzip(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      const failure = failureOf(error, maxBytes);
      if (!isCut(error)) throw failure;
      plain = await beginningOf(plain, maxBytes);
      if (plain.length === 0) throw failure;
      damage = failure;
    }
  }
  return { bytes: plain, damage };
}

/** The content of a gzip that ends in the middle. */
async function beginningOf(cut: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await gunzip(cut, { maxOutputLength: maxBytes, finishFlush: zlib.constants.Z_SYNC_FLUSH });
  } catch (error) {
    throw failureOf(error, maxBytes);
  }
}

function isCut(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
}

function failureOf(error: unknown, maxBytes: number): CrawlnodeError {
  const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
  const tooLarge = `it holds more than ${Math.round(maxBytes / 2 ** 20)} MB`;
  const reason = isTooLarge ? tooLarge : isCut(error) ? 'it ends in the middle' : messageOf(error);
  return new CrawlnodeError('bad_gzip', `the gzip cannot be read: ${reason}`, { cause: error });
}
