/**
 * A gzip file made of members, one for each append (RFC 1952, 2.2: a file is a series of members). So it can be cut off
 * after a member, and gunzip, zcat and Python read it as one text.
 */
import { constants, gunzipSync, gzipSync } from 'node:zlib';

/** A text as a member; nothing for an empty one. */
export function gzipMember(text: string): Buffer {
  return text === '' ? Buffer.alloc(0) : gzipSync(text);
}

/** The text of the bytes, of which the last member may be cut off, even in its head. Null where they are no gzip. */
export function gunzipPart(bytes: Buffer): Buffer | null {
  try {
    const how = { finishFlush: constants.Z_SYNC_FLUSH, info: true };
    // With `info` the answer says how much was read: zlib ignores what is no gzip behind the last member.
    const { buffer, engine } = gunzipSync(bytes, how) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    };
    return engine.bytesWritten === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}
