/**
 * Files of compiled code that only save work: a file that is damaged, or that another user could have written, counts as
 * absent, and one that cannot be written is left out. Their folder is one that only this user can write to
 * (`private-folder.ts`).
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { readPrivateFile, writePrivateFile } from '../../private-file.js';

/** A CRC-32 of all that follows. */
const HEADER_BYTES = 4;
/** Older files are of modules that changed or are gone; whoever still needs one writes it again. */
const FORGET_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

/** The code as it was written last; null without it, or where anybody else could have written it. */
export function readCodeFile(file: string): string | null {
  const bytes = readPrivateFile(file);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const code = bytes.subarray(HEADER_BYTES);
  return bytes.readUInt32LE(0) === crc32(code) ? code.toString() : null;
}

/** Write a file as a whole, and remove old ones of its folder. */
export function writeCodeFile(file: string, code: string): void {
  const content = Buffer.from(code);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(content));
  try {
    writePrivateFile(file, Buffer.concat([header, content]));
    removeOld(path.dirname(file));
  } catch {
    // The next run compiles again.
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > FORGET_AFTER_MS) rmSync(file, { force: true });
  }
}
