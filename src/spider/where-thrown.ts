/** Where in the user's code an error comes from, for messages that show no stack. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `Name: message`, or whatever else was thrown, on one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)} was thrown`;
  return error.message.startsWith(error.name) ? error.message : `${error.name}: ${error.message}`;
}

/** `file:line:column` of the topmost frame that is neither Node's, a package's nor crawlnode's own; null without one. */
export function whereThrown(error: unknown): string | null {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const [, place, line, column] of stack.matchAll(/^ +at (?:.*\()?(.+):(\d+):(\d+)\)?$/gm)) {
    const file = place!.startsWith('file:') ? fileURLToPath(place!.replace(/\?.*/, '')) : place!;
    if (isUsers(file)) return `${shortPath(file)}:${line}:${column}`;
  }
  return null;
}

/** A path as people write it: relative where it lies below the working folder. */
export function shortPath(file: string): string {
  const relative = path.relative('', file);
  return relative.startsWith('..') ? file : relative;
}

/** Of this copy of crawlnode: src/ or dist/. */
const own = fileURLToPath(new URL('..', import.meta.url));

function isUsers(file: string): boolean {
  return (
    path.isAbsolute(file) && !file.startsWith(own) && !file.includes(`${path.sep}node_modules${path.sep}`)
  );
}
