/** TypeScript that did not change since an earlier run is not compiled again: starting esbuild takes 60 ms of CPU. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { readCacheFile, writeCacheFile } from '../cache-file.js';
import { compileTypeScript, OPTIONS } from './compile-typescript.js';

/**
 * As `compileTypeScript`.
 * @param folder - where compiled files are kept; null: nowhere
 */
export async function compileOnce(file: string, folder: string | null): Promise<string> {
  // Read once: what is kept has to be of the text that it is found by.
  const text = await readFile(file, 'utf8');
  if (folder === null) return compileTypeScript(file, text);
  // The path is in the source map.
  const hash = createHash('sha256').update(JSON.stringify([file, OPTIONS, esbuildVersion()]));
  const id = hash.update(text).digest('hex').slice(0, 32);
  const kept = path.join(folder, `${path.basename(file)}-${id}`);
  const before = readCacheFile(kept);
  if (before !== null) return before.toString();
  const code = await compileTypeScript(file, text);
  writeCacheFile(kept, Buffer.from(code));
  return code;
}

function esbuildVersion(): string {
  return createRequire(import.meta.url)('esbuild/package.json').version;
}
