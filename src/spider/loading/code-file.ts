/**
 * Cache files of compiled code, in a folder that only this user can write to (`private-folder.ts`). A file that is damaged
 * or belongs to another user counts as absent. An error while writing is ignored.
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

/** A CRC-32 of the rest of the file. */
const HEADER_BYTES = 4;
/** Older files are deleted. They usually belong to modules that were changed or removed. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** The cached code; null when the file is missing, damaged or owned by another user. */
export function readCodeFile(file: string): string | null {
  const bytes = readOwnFile(file);
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  const code = bytes.subarray(HEADER_BYTES);
  return bytes.readUInt32LE(0) === crc32(code) ? code.toString() : null;
}

/** Write a file atomically, and delete old files of its folder. */
export function writeCodeFile(file: string, code: string): void {
  const temporaryFile = `${file}.${process.pid}`;
  const content = Buffer.from(code);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(crc32(content));
  try {
    // `wx` refuses an existing file or link.
    writeFileSync(temporaryFile, Buffer.concat([header, content]), { mode: 0o600, flag: 'wx' });
    renameSync(temporaryFile, file);
    removeOld(path.dirname(file));
  } catch {
    rmSync(temporaryFile, { force: true });
  }
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > MAX_AGE_MS) rmSync(file, { force: true });
  }
}

function readOwnFile(file: string): Buffer | null {
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
