/** Folders whose files are run as code, such as caches: nobody but this user may be able to put anything there. */
import { realpathSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { makeFolder } from './make-folder.js';

const WRITABLE_BY_OTHERS = 0o022;
/** In a folder with this bit, such as /tmp, only its owner may rename or remove an entry. */
const STICKY = 0o1000;

/**
 * Make a folder for this user alone, unless it is there, and check that nobody else could write to it or replace it:
 * it has to be this user's, and each folder above it this user's or root's; none writable by others, unless it is a sticky one
 * above. The superuser is trusted.
 * @returns its path without symbolic links; null where it cannot be made, is not safe, or the system (Windows) does not say.
 */
export function privateFolder(folder: string): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  try {
    makeFolder(folder, 0o700);
    const real = realpathSync(folder);
    const own = statSync(real);
    if (own.uid !== uid || isWritableByOthers(own)) return null;
    return foldersAbove(real).every((above) => isSafeAbove(statSync(above), uid)) ? real : null;
  } catch {
    return null;
  }
}

function foldersAbove(folder: string): string[] {
  const above = path.dirname(folder);
  return above === folder ? [] : [above, ...foldersAbove(above)];
}

function isSafeAbove(folder: Stats, uid: number): boolean {
  if (folder.uid !== uid && folder.uid !== 0) return false;
  return !isWritableByOthers(folder) || (folder.mode & STICKY) !== 0;
}

function isWritableByOthers({ mode }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0;
}
