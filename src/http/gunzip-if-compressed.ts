/** Decompress gzip content, detected by its first bytes, up to a size limit. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { CrawlnodeError, messageOf } from '../errors.js';

const gunzip = promisify(zlib.gunzip);
/** Some servers compress a file that is already compressed. */
const MAX_LAYERS = 3;

/** @returns content that is not gzip unchanged. @throws CrawlnodeError `bad_gzip` for truncated, damaged or too large content. */
export async function gunzipIfCompressed(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  let plain = bytes;
  for (let layer = 0; layer < MAX_LAYERS && plain[0] === 0x1f && plain[1] === 0x8b; layer += 1) {
    try {
      plain = await gunzip(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const reason =
        code === 'ERR_BUFFER_TOO_LARGE'
          ? `it holds more than ${Math.round(maxBytes / 2 ** 20)} MB`
          : code === 'Z_BUF_ERROR'
            ? 'it ends in the middle'
            : messageOf(error);
      throw new CrawlnodeError('bad_gzip', `the gzip cannot be read: ${reason}`, { cause: error });
    }
  }
  return plain;
}
