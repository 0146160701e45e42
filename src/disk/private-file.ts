/**
 * Small files that only this user can read. They are written as a whole, and read only if no other user could have written
 * them.
 */
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
 * The bytes of a file. Null when there is none, when it is not a plain file of this user, when others can write to it, or
 * when the system (Windows) does not tell. A symbolic link is not followed.
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
 * Write a file that only this user can read, atomically and never through a link that somebody else put in its place.
 * @throws the error of the system call; the file is then unchanged.
 */
export function writePrivateFile(file: string, content: string | Buffer): void {
  const fresh = `${file}.${process.pid}`;
  try {
    // A killed process with the same id may have left this file.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, content, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
