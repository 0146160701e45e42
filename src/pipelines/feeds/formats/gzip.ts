/**
 * A gzip file made of members, one for each append (RFC 1952, 2.2: a file is a series of members). So it can be cut off
 * after a member, and gunzip, zcat and Python read it as one text.
 */
import { constants, gunzipSync, gzipSync } from 'node:zlib';

/** A text as a member; nothing for an empty one. */
export function gzipMember(text: string): Buffer {
  return text === '' ? Buffer.alloc(0) : gzipSync(text);
}

/** The text of the bytes. The last member may be cut off, even in its header. Null when they are not gzip. */
export function gunzipPart(bytes: Buffer): Buffer | null {
  try {
    const how = { finishFlush: constants.Z_SYNC_FLUSH, info: true };
    // With `info` the result says how much was read: zlib ignores bytes after the last member that are not gzip.
    const { buffer, engine } = gunzipSync(bytes, how) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return engine.bytesWritten === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}
