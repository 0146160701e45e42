/**
 * Decodes gzip data that is followed by other data. zlib reads the bytes after a gzip member as the next member, fails
 * unless they are zeros, and loses the inflated data. curl and Scrapy keep the body. This is slower than zlib's gunzip, so
 * it is used only after that has failed.
 */
import type { BodyBytes } from './body-bytes.js';
import { inflateRaw } from './codecs.js';
import { type InflateOptions, inflateInto } from './inflate.js';

const TRAILER_BYTES = 8;

/**
 * Inflate the gzip members at the beginning of a body (RFC 1952) and add them to `into`.
 * @returns whether there is one.
 * @throws the error of zlib for a damaged first member, a truncated member, or an output that is too large.
 */
export async function inflateLeadingMembers(
  into: BodyBytes,
  bytes: Buffer,
  options: InflateOptions,
): Promise<boolean> {
  let members = 0;
  for (let at = 0; into.length < options.stopAtBytes; members += 1) {
    const start = endOfHeader(bytes, at);
    if (start === null) break;
    const inflatedBefore = into.length;
    try {
      at = start + (await inflateInto(into, bytes.subarray(start), inflateRaw, options)) + TRAILER_BYTES;
    } catch (error) {
      // Other data may begin like a member, and then is ignored. A truncated member is an error: the body is truncated.
      if (members === 0 || (error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error;
      into.truncate(inflatedBefore);
      break;
    }
  }
  return members > 0;
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
