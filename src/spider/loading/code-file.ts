/**
 * Files of compiled code that only save work: a file that is damaged, or that another user could have written, counts as
 * absent, and one that cannot be written is left out. Their folder is one that only this user can write to
 * (`private-folder.ts`).
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';

/** A CRC-32 of the rest of the file. */
const HEADER_BYTES = 4;
/** Older files are deleted. They usually belong to modules that were changed or removed. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** The cached code; null when the file is missing, damaged or owned by another user. */
export function readCodeFile(file: string): string | null {
  const bytes = readPrivateFile(file);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const code = bytes.subarray(HEADER_BYTES);
  return bytes.readUInt32LE(0) === crc32(code) ? code.toString() : null;
}

/** Write a file atomically, and delete old files of its folder. */
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
    if (Date.now() - statSync(file).mtimeMs > MAX_AGE_MS) rmSync(file, { force: true });
  }
}
