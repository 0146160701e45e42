/**
 * Files of compiled code that only save work: one that is damaged or another user's counts as absent, and one that cannot be
 * written is left out. Their folder is one that only this user can write to (`private-folder.ts`).
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

/** A CRC-32 of all that follows. */
const HEADER_BYTES = 4;
/** Older files are of modules that changed or are gone; whoever still needs one writes it again. */
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

/** The code as it was written last; null without it, or where anybody else could have written it. */
export function readCodeFile(file: string): string | null {
  const bytes = readOwn(file);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const code = bytes.subarray(HEADER_BYTES);
  return bytes.readUInt32LE(0) === crc32(code) ? code.toString() : null;
}

/** Write a file as a whole, and remove old ones of its folder. */
export function writeCodeFile(file: string, code: string): void {
  const fresh = `${file}.${process.pid}`;
  const content = Buffer.from(code);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(content));
  try {
    // A new file, never a link to another one.
    writeFileSync(fresh, Buffer.concat([header, content]), { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
    removeOld(path.dirname(file));
  } catch {
    rmSync(fresh, { force: true });
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > FORGET_AFTER_MS) rmSync(file, { force: true });
  }
}

function readOwn(file: string): Buffer | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      return fstatSync(descriptor).uid === process.getuid?.() ? readFileSync(descriptor) : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}
