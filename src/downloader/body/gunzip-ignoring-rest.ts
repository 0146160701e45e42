/**
 * Decodes gzip data that is followed by other data. zlib reads the bytes after a gzip member as the next member, fails
 * unless they are zeros, and loses the inflated data. curl and Scrapy keep the body. This is slower than zlib's gunzip, so
 * it is used only after that has failed.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';

interface Inflated {
  readonly buffer: Buffer;
  /** `bytesWritten` is the number of input bytes that were consumed. */
  readonly engine: { readonly bytesWritten: number };
}
interface InflateOptions {
  readonly info: true;
  readonly chunkSize: number;
  readonly maxOutputLength: number;
}

/** With `info` the result includes the engine, which the types of `@types/node` lack. */
const inflateRaw = promisify(zlib.inflateRaw) as unknown as (
  bytes: Buffer,
  options: InflateOptions,
) => Promise<Inflated>;

const TRAILER_BYTES = 8;

/**
 * Inflate the gzip members at the beginning of a body (RFC 1952).
 * @returns null when there is none.
 * @throws the error of zlib for a damaged first member, a truncated member, or output beyond `maxOutputLength`.
 */
export async function leadingGzipMembers(
  bytes: Buffer,
  { chunkSize, maxOutputLength }: Omit<InflateOptions, 'info'>,
): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let outputBytes = 0;
  for (let at = 0; ; ) {
    const start = endOfHeader(bytes, at);
    if (start === null) break;
    const left = maxOutputLength - outputBytes;
    try {
      const options = { info: true, chunkSize, maxOutputLength: Math.max(1, left) } as const;
      const { buffer, engine } = await inflateRaw(bytes.subarray(start), options);
      parts.push(buffer);
      outputBytes += buffer.length;
      at = start + engine.bytesWritten + TRAILER_BYTES;
    } catch (error) {
      // Other data may begin like a member, and then is ignored. A truncated member is an error: the body is truncated.
      if (parts.length === 0 || (error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error;
      break;
    }
  }
  return parts.length === 0 ? null : Buffer.concat(parts);
}

/** The offset of the deflated data of the member at `at`; null when there is no member. */
function endOfHeader(bytes: Buffer, at: number): number | null {
  if (at + 10 > bytes.length || bytes.readUInt32BE(at) >>> 8 !== 0x1f8b08) return null;
  const flags = bytes[at + 3]!;
  let end = at + 10;
  if (flags & 4) end += 2 + (end + 2 <= bytes.length ? bytes.readUInt16LE(end) : 0);
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const zero = bytes.indexOf(0, end);
    if (zero < 0) return null;
    end = zero + 1;
  }
  if (flags & 2) end += 2;
  return end < bytes.length ? end : null;
}
