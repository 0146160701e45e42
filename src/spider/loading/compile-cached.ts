/** Compile TypeScript with a cache on disk, because starting esbuild is slow. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readCodeFile, writeCodeFile } from './code-file.js';
import { COMPILE_OPTIONS, compileTypeScript } from './compile-typescript.js';

/**
 * Compile a file as `compileTypeScript` does, or return the cached result.
 * @param folder of the cache, which only this user can write to (`private-folder.ts`); null for no cache
 */
export function compileCached(file: string, folder: string | null): string {
  const text = readFileSync(file, 'utf8');
  if (folder === null) return compileTypeScript(file, text);
  // The hash includes the path, because the source map contains it.
  const id = idOf([pathToFileURL(file), COMPILE_OPTIONS, esbuildVersion(), text]);
  const cacheFile = path.join(folder, `${path.basename(file)}-${id}`);
  const cached = readCodeFile(cacheFile);
  if (cached !== null) return cached;
  const code = compileTypeScript(file, text);
  writeCodeFile(cacheFile, code);
  return code;
}

/** For the name of a file in the cache: a hash of all that its content depends on. */
export function idOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

function esbuildVersion(): string {
  return createRequire(import.meta.url)('esbuild/package.json').version;
}
