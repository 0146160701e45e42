/** What is said of a module that does not load. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SpiderLoadError } from '../../errors.js';
import { describeError, shortPath, whereThrown } from '../where-thrown.js';
import { compileTypeScript } from './compile-typescript.js';

/** The error for a module of the user's: `file:line:column does not load: what is wrong`. */
export async function loadError(file: string, error: unknown): Promise<SpiderLoadError> {
  const where = error instanceof SyntaxError ? await whereWritten(file, error) : whereThrown(error);
  const name = shortPath(file);
  // A mistake in a helper names the helper too.
  const place = where === null || where.startsWith(`${name}:`) ? (where ?? name) : `${name} (at ${where})`;
  return new SpiderLoadError(`${place} does not load: ${describeError(error)}`, { cause: error });
}

/** Where a mistake in the text is: esbuild says so, V8 only of imports that the other module does not export. */
async function whereWritten(file: string, error: SyntaxError & { at?: unknown }): Promise<string | null> {
  if (typeof error.at === 'string') return shortPath(error.at);
  const [head = '', , carets = ''] = (error.stack ?? '').split('\n');
  const [, module, line] = /^(.+):(\d+)$/.exec(head) ?? [];
  if (module !== undefined) {
    const written = module.startsWith('file:') ? fileURLToPath(module) : module;
    return `${shortPath(written)}:${line}:${carets.indexOf('^') + 1}`;
  }
  // V8 does not tell where a module fails to parse, so plain JavaScript is parsed once more.
  try {
    compileTypeScript(file, await readFile(file, 'utf8'));
    return null;
  } catch (mistake) {
    const { at } = mistake as { at?: string };
    return at === undefined ? null : shortPath(at);
  }
}
