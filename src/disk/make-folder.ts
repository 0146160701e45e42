/**
 * Create a folder and its missing parents. Node's `recursive` option never returns where the system answers ENOENT although
 * the parent exists, as under /proc.
 */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** Create a folder and its missing parents. @throws the error of the system call. */
export function makeFolder(folder: string, mode = 0o777): void {
  if (isFolder(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have created it meanwhile.
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
