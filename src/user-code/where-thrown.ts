/** Where in the user's code something went wrong, for messages without a stack: where an error was thrown, which modules are being loaded. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSource, packageFolder } from '../package-folder.js';

/** `Name: message` of an error; a thrown value of another type as text. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)} was thrown`;
  return error.message.startsWith(error.name) ? error.message : `${error.name}: ${error.message}`;
}

/** `file:line:column` of the topmost stack frame in the user's code, not in Node, a package or crawlnode; null without one. */
export function whereThrown(error: unknown): string | null {
  const stack = error instanceof Error ? String(error.stack) : '';
  for (const [, place, line, column] of stack.matchAll(/^ +at (?:.*\()?(.+):(\d+):(\d+)\)?$/gm)) {
    const file = place!.startsWith('file:') ? fileURLToPath(place!.replace(/\?.*/, '')) : place!;
    if (isUserFile(file)) return `${shortPath(file)}:${line}:${column}`;
  }
  return null;
}

/** ` (file:line:column)` to append to the message of an error; empty where the user's code has no part in it. */
export function placeOf(error: unknown): string {
  const where = whereThrown(error);
  return where === null ? '' : ` (${where})`;
}

/** A path for messages: relative when it is below the working folder. */
export function shortPath(file: string): string {
  const relative = path.relative('', file);
  return relative.startsWith('..') ? file : relative;
}

/** The code of this copy of crawlnode. */
const crawlnodeFolder = path.join(packageFolder, isSource ? 'src' : 'dist', path.sep);

function isUserFile(file: string): boolean {
  return (
    path.isAbsolute(file) &&
    !file.startsWith(crawlnodeFolder) &&
    !file.includes(`${path.sep}node_modules${path.sep}`)
  );
}

/** The user's modules that are being loaded. */
const loading = new Set<string>();

/** Resolves as `load` does; meanwhile `file` counts as being loaded. */
export async function whileLoading<T>(file: string, load: () => Promise<T>): Promise<T> {
  loading.add(file);
  try {
    return await load();
  } finally {
    loading.delete(file);
  }
}

/** Absolute paths. */
export function modulesLoading(): readonly string[] {
  return [...loading];
}
