/** Find the files of a folder that may contain spiders. */
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * All modules in a folder (`.ts`, `.js`, `.mts`, `.mjs`, `.cts`, `.cjs`, `.tsx`) and its subfolders, or the file itself when the path is a file. Excluded
 * are node_modules, names that begin with a dot or an underscore, type declarations and tests.
 * @returns absolute paths, sorted; null when there is no such folder or file.
 */
export async function spiderFiles(folder: string): Promise<string[] | null> {
  const root = path.resolve(folder);
  const found = await stat(root).catch(() => null);
  if (found === null) return null;
  if (found.isFile()) return [root];
  const files = await walk(root, new Set());
  return files.sort();
}

async function walk(folder: string, visited: Set<string>): Promise<string[]> {
  const real = await realpath(folder);
  if (visited.has(real)) return []; // a symbolic link to a parent folder
  visited.add(real);
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (/^[._]/.test(entry.name) || entry.name === 'node_modules') continue;
    const file = path.join(folder, entry.name);
    const kind = entry.isSymbolicLink() ? await stat(file).catch(() => null) : entry;
    if (kind?.isDirectory()) files.push(...(await walk(file, visited)));
    else if (kind?.isFile() && mayHoldSpider(entry.name)) files.push(file);
  }
  return files;
}

/** Whether a file is a module by its name. */
export function isModule(name: string): boolean {
  return /\.(?:[cm]?[jt]s|tsx)$/.test(name);
}

function mayHoldSpider(name: string): boolean {
  return isModule(name) && !/\.(d|test|spec)\.[a-z]+$/.test(name);
}
