/** Undo gzip where the content is gzip, whatever its name and headers say; bounded. */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { CrawlnodeError, messageOf } from '../../errors.js';

const gunzip = promisify(zlib.gunzip);
/** Some servers compress what is compressed already. */
const MAX_LAYERS = 3;

/** @throws CrawlnodeError `bad_gzip` for what ends too early, is damaged, or holds more than `maxBytes`. */
export async function gunzipped(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  let plain = bytes;
  for (let layer = 0; layer < MAX_LAYERS && plain[0] === 0x1f && plain[1] === 0x8b; layer += 1) {
    try {
      plain = await gunzip(plain, { maxOutputLength: maxBytes });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why =
        code === 'ERR_BUFFER_TOO_LARGE'
          ? `it holds more than ${Math.round(maxBytes / 2 ** 20)} MB`
          : code === 'Z_BUF_ERROR'
            ? 'it ends in the middle'
            : messageOf(error);
      throw new CrawlnodeError('bad_gzip', `the gzip cannot be read: ${why}`, { cause: error });
    }
  }
  return plain;
}
