/**
 * Files that only save work: what does not come back as it was written counts as absent, and what cannot be written is
 * left. As they hold code that is run, one that belongs to another user is not read, and nobody else may write to ours.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder } from './make-folder.js';

/** A CRC-32 of all that follows. */
const HEADER_BYTES = 4;
/** Of other versions, or of files that nobody loads any more; who still needs one writes it again. */
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;
/** Of all files together. An installation takes some 4 MB; whoever installs anew for each job would fill a disk in a month. */
const MAX_BYTES = 128 * 1024 * 1024;

/** What was written last; null without it. */
export function readCacheFile(file: string): Buffer | null {
  const bytes = readOwn(file);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const content = bytes.subarray(HEADER_BYTES);
  return bytes.readUInt32LE(0) === crc32(content) ? content : null;
}

/** Write a file as a whole, and remove those of its folder that are old, or too many. */
export function writeCacheFile(file: string, content: Buffer): void {
  const folder = path.dirname(file);
  const fresh = `${file}.${process.pid}`;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(content));
  try {
    makeFolder(folder, 0o700);
    // A new file, not one that was put there or a link to one of ours.
    writeFileSync(fresh, Buffer.concat([header, content]), { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
    tidy(folder);
  } catch {
    try {
      rmSync(fresh);
    } catch {
      // It was not there.
    }
  }
}

/** Keep what was written last. */
function tidy(folder: string): void {
  const files = readdirSync(folder).map((name) => {
    const file = path.join(folder, name);
    const { mtimeMs, size } = statSync(file);
    return { file, mtimeMs, size };
  });
  let bytes = 0;
  for (const { file, mtimeMs, size } of files.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    bytes += size;
    if (bytes > MAX_BYTES || Date.now() - mtimeMs > FORGET_AFTER_MS) rmSync(file, { force: true });
  }
}

/** The whole of a file that is ours or root's. */
function readOwn(file: string): Buffer | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const owner = fstatSync(descriptor).uid;
      return owner === 0 || owner === process.getuid?.() ? readFileSync(descriptor) : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}
