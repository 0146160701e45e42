/** Find where in the user's code an error was thrown, for messages without a stack. */
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

/** The same in parentheses, behind a message; empty without one. */
export function thrownAt(error: unknown): string {
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
