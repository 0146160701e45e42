/** Folders for files that are run as code, such as caches. Only this user may be able to write there. */
import { realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from './make-folder.js';

const WRITABLE_BY_OTHERS = 0o022;
/** In a folder with this bit, such as /tmp, only its owner may rename or remove an entry. */
const STICKY = 0o1000;

/**
 * Create a folder for this user alone, unless it exists, and check that no other user can write to it or replace it. This
 * user must own the folder, and this user or root must own each of its parents. None of them may be writable by others,
 * except for a sticky parent such as /tmp. The superuser is trusted.
 * @returns its path without symbolic links; null where it cannot be created, is not safe, or the system has no user ids
 *   (Windows).
 */
export function privateFolder(folder: string): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  try {
    makeFolder(folder, 0o700);
    const real = realpathSync(folder);
    const stats = statSync(real);
    if (stats.uid !== uid || isWritableByOthers(stats)) return null;
    return parentsOf(real).every((parent) => isSafeParent(statSync(parent), uid)) ? real : null;
  } catch {
    return null;
  }
}

function parentsOf(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [] : [parent, ...parentsOf(parent)];
}

function isSafeParent(folder: Stats, uid: number): boolean {
  if (folder.uid !== uid && folder.uid !== 0) return false;
  return !isWritableByOthers(folder) || (folder.mode & STICKY) !== 0;
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0;
}
