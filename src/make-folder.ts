/**
 * Making a folder. Node's own way, `recursive`, never comes back where the system answers that there is no such folder
 * although the one above is there, as under /proc.
 */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Make it, and those above it that are missing. @throws what the system says. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (isFolder(folder)) return;
  const above = path.dirname(folder);
  if (above !== folder) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
