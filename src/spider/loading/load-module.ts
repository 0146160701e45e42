/** Import a user's TypeScript or JavaScript module from any folder. Its `crawlnode` is the running copy. */
import { realpath } from 'node:fs/promises';
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { loadError } from './load-error.js';
import { type HooksData, initialize, load, resolve } from './module-hooks.js';

/** When crawlnode runs from source, tsx or vitest already load TypeScript and resolve `crawlnode`. */
const isSource = import.meta.url.endsWith('.ts');
/** The entry module, which `import 'crawlnode'` loads. */
const crawlnode = new URL('../../index.js', import.meta.url).href;

let typescriptFolder: string | null = null;
let installed: Promise<void> | undefined;

/**
 * Set the folder of the cache of compiled TypeScript. Call it before the first module is loaded.
 * @param folder that only this user can write to (`private-folder.ts`); null for no cache
 */
export function setTypeScriptCache(folder: string | null): void {
  typescriptFolder = folder;
}

/**
 * Import a `.ts`, `.js` or `.mjs` file and return its exports. A second call returns the same module.
 * @throws SpiderLoadError that names the file (with line and column where they are known) and the reason.
 */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  installed ??= installHooks();
  await installed;
  try {
    return await import(/* @vite-ignore */ pathToFileURL(await realpath(path)).href);
  } catch (error) {
    throw await loadError(path, error);
  }
}

/** Uses hooks in the main thread where Node has them (22.15, 23.5), because starting a hooks thread is slow. */
async function installHooks(): Promise<void> {
  if (isSource) return;
  const data: HooksData = { loader: import.meta.url, crawlnode, typescriptFolder };
  const { registerHooks } = module as { registerHooks?: (hooks: object) => void };
  if (registerHooks) {
    initialize(data);
    registerHooks({ resolve, load });
  } else {
    // Every spider imports it, and it loads faster without the hooks thread.
    await import(crawlnode);
    module.register('./module-hooks.js', { parentURL: import.meta.url, data });
  }
  // Stack traces then show the lines of the TypeScript source.
  process.setSourceMapsEnabled(true);
}
