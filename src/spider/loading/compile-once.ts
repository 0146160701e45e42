/** TypeScript that did not change since an earlier run is not compiled again: starting esbuild takes 60 ms of CPU. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { readCodeFile, writeCodeFile } from './code-file.js';
import { compileTypeScript, OPTIONS } from './compile-typescript.js';

/**
 * As `compileTypeScript`.
 * @param folder - where compiled files are kept, one that only this user can write to; null: nowhere
 */
export function compileOnce(file: string, folder: string | null): string {
  // Read once: the compiled code is found by the hash of the text that it was made of.
  const text = readFileSync(file, 'utf8');
  if (folder === null) return compileTypeScript(file, text);
  // The path is in the source map.
  const hash = createHash('sha256').update(JSON.stringify([file, OPTIONS, esbuildVersion()]));
  const id = hash.update(text).digest('hex').slice(0, 32);
  const codeFile = path.join(folder, `${path.basename(file)}-${id}`);
  const cached = readCodeFile(codeFile);
  if (cached !== null) return cached;
  const code = compileTypeScript(file, text);
  writeCodeFile(codeFile, code);
  return code;
}

function esbuildVersion(): string {
  return createRequire(import.meta.url)('esbuild/package.json').version;
}
