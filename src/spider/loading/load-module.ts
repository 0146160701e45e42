/** Import one module of the user's: TypeScript or JavaScript, wherever it lies, with `crawlnode` the copy that runs. */
import { realpath } from 'node:fs/promises';
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { loadError } from './load-error.js';
import { type HooksData, initialize, load, resolve } from './module-hooks.js';

/** Run from source there is a loader of TypeScript already, tsx or vitest, which also knows `crawlnode`. */
const isSource = import.meta.url.endsWith('.ts');
/** What spiders know as `crawlnode`: the same module that `import 'crawlnode'` gives a program. */
const crawlnode = new URL('../../index.js', import.meta.url).href;

let typescriptFolder: string | null = null;
let installed: Promise<void> | undefined;

/**
 * Keep JavaScript that is compiled from TypeScript for later runs; takes effect before the first module is loaded.
 * @param folder - one that nobody but this user can write to (`private-folder.ts`); null: nothing is kept
 */
export function keepTypeScriptIn(folder: string | null): void {
  typescriptFolder = folder;
}

/**
 * Import a `.ts`, `.js` or `.mjs` file and give back what it exports. Asking again gives the same module.
 * @throws SpiderLoadError naming the file (with line and column where they are known) and what is wrong.
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

/** Within this process where Node can (22.15, 23.5): a thread for the hooks takes 40 ms of CPU. */
async function installHooks(): Promise<void> {
  if (isSource) return;
  const data: HooksData = { loader: import.meta.url, crawlnode, typescriptFolder };
  const { registerHooks } = module as { registerHooks?: (hooks: object) => void };
  if (registerHooks) {
    initialize(data);
    registerHooks({ resolve, load });
  } else {
    // Every spider needs it, and it loads twice as fast before it passes through the hooks' thread.
    await import(crawlnode);
    module.register('./module-hooks.js', { parentURL: import.meta.url, data });
  }
  // Stack traces of TypeScript then show its own lines.
  process.setSourceMapsEnabled(true);
}
