/** Import one module of the user's: TypeScript or JavaScript, wherever it lies, with `crawlnode` the copy that runs. */
import { realpath } from 'node:fs/promises';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { cacheFolder, entry, importer, importModule, isSource, ownFolder } from '../outside.js';
import { loadError } from './load-error.js';
import type { HooksData } from './module-hooks.js';

/**
 * Import a `.ts`, `.js` or `.mjs` file and give back what it exports. Asking again gives the same module.
 * @throws SpiderLoadError naming the file (with line and column where they are known) and what is wrong.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  installed ??= installHooks();
  await installed;
  try {
    return await importModule(pathToFileURL(await realpath(path)).href);
  } catch (error) {
    throw await loadError(path, error);
  }
}

let installed: Promise<void> | undefined;

/**
 * The hooks cost about 25 ms of start-up (a thread), a first TypeScript module 30 ms more (esbuild), so both wait
 * until they are needed. Run from source there is a loader of TypeScript already, tsx or vitest, and it knows
 * `crawlnode` from tsconfig.json or vitest.config.ts.
 */
async function installHooks(): Promise<void> {
  if (isSource) return;
  // Every spider needs it, and it loads twice as fast before it passes through the hooks' thread.
  await importModule(entry.href);
  const data: HooksData = { loader: importer, crawlnode: entry.href, cacheFolder };
  register('./spider/module-hooks.js', { parentURL: ownFolder, data });
  // Stack traces of TypeScript then show its own lines.
  process.setSourceMapsEnabled(true);
}
