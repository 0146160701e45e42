/** Small files of crawlnode's own, for this user alone: written whole, and read back only where nobody else could have written them. */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';

/** Permission bits that let others write. */
const WRITABLE_BY_OTHERS = 0o022;

/**
 * The bytes of a file; null where there is none, it is no plain file of this user's, others can write to it, or the system
 * (Windows) does not say. A symbolic link is not followed.
 */
export function readPrivateFile(file: string): Buffer | null {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a named pipe waits for a writer.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(descriptor);
    const isOwn = stat.isFile() && stat.uid === process.getuid?.() && (stat.mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn ? readFileSync(descriptor) : null;
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Write a file that only this user can read, whole or not at all: never through a link that somebody put in its place.
 * @throws what the system says; the file is then as it was.
 */
export function writePrivateFile(file: string, content: string | Buffer): void {
  const fresh = `${file}.${process.pid}`;
  try {
    // What a killed process with the same id has left.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, content, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
