/** Decompresses gzip input, detected by its first bytes, and refuses other compression formats. */
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../../errors.js';

/** Unsupported formats: their magic bytes, and the command that decompresses them. */
const packed = [
  { begins: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), name: 'zstd', unpack: 'zstdcat' },
  { begins: Buffer.from([0xfd, 0x37, 0x7a, 0x58]), name: 'xz', unpack: 'xzcat' },
  { begins: Buffer.from('BZh'), name: 'bzip2', unpack: 'bzcat' },
  { begins: Buffer.from('PK\u0003\u0004'), name: 'zip', unpack: 'unzip -p' },
] as const;
const GZIP = Buffer.from([0x1f, 0x8b]);
const MAX_MAGIC_BYTES = 4;

/**
 * The stream itself, or the decompressed stream when it is gzip.
 * @param name the name of the stream, for errors
 * @throws UsageError for another compression format; any error of the stream before its first bytes
 */
export async function decompressGzip(name: string, stream: Readable): Promise<Readable> {
  const head = await firstBytes(stream);
  const other = packed.find(({ begins }) => begins.equals(head.subarray(0, begins.length)));
  if (other !== undefined) {
    stream.destroy();
    throw new UsageError(
      `${name} is compressed with ${other.name}: decompress it first, with "${other.unpack}"`,
    );
  }
  if (!GZIP.equals(head.subarray(0, GZIP.length))) return stream;
  const gunzip = createGunzip({ chunkSize: stream.readableHighWaterMark });
  // The reader of `gunzip` receives the errors.
  pipeline(stream, gunzip, () => {});
  return gunzip;
}

/** The first bytes of a stream, which are put back. Fewer when the stream is shorter. */
function firstBytes(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      stream.off('readable', look).off('end', none).off('close', none).off('error', failed);
      end();
    };
    const look = () => {
      const bytes: Buffer | null = stream.read(MAX_MAGIC_BYTES);
      if (bytes === null) return;
      settle(() => stream.unshift(bytes));
      resolve(bytes);
    };
    const none = () => settle(() => resolve(Buffer.alloc(0)));
    const failed = (error: Error) => settle(() => reject(error));
    stream.on('readable', look).once('end', none).once('close', none).once('error', failed);
  });
}
