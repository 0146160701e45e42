/** Import a user's TypeScript or JavaScript module from any folder. Its `crawlnode` is the running copy. */
import { realpath } from 'node:fs/promises';
import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isSource, packageFolder } from '../../package-folder.js';
import { whileLoading } from '../../user-code/where-thrown.js';
import { loadError } from './load-error.js';
import { type HooksData, initialize, load as loadHook, resolve, USER_MODULE } from './module-hooks.js';
import { standaloneModule } from './standalone-module.js';

let typescriptFolder: string | null = null;
let installed: Promise<void> | undefined;
/** Modules that were loaded without hooks: the URL of the user's file → that of its compiled file. */
const standalone = new Map<string, string>();
/** Attempts to load modules without hooks. */
const attempts: Promise<unknown>[] = [];

const builtFile = (name: string) => pathToFileURL(path.join(packageFolder, 'dist', name)).href;
/** Hooks in the main thread: Node 22.15, 23.5 and later. */
const { registerHooks } = module as { registerHooks?: (hooks: object) => void };

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
export function loadModule(file: string): Promise<Record<string, unknown>> {
  return whileLoading(file, () => load(file));
}

async function load(file: string): Promise<Record<string, unknown>> {
  try {
    if (installed === undefined && !isSource && registerHooks === undefined) {
      const attempt = loadStandalone(file);
      attempts.push(attempt);
      const loaded = await attempt;
      if (loaded !== null) return loaded;
    }
    installed ??= installHooks();
    await installed;
    const url = pathToFileURL(await realpath(file)).href;
    return await import(/* @vite-ignore */ isSource ? url : USER_MODULE + url);
  } catch (error) {
    throw await loadError(file, error);
  }
}

/** @returns null for a module that needs the hooks, or does not fit together: they lead to a better message. */
async function loadStandalone(file: string): Promise<Record<string, unknown> | null> {
  const found = await standaloneModule(file, builtFile('index.js'), typescriptFolder);
  if (found === null) return null;
  process.setSourceMapsEnabled(true);
  try {
    const loaded = await import(found.compiled);
    standalone.set(found.source, found.compiled);
    return loaded;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Uses hooks in the main thread where Node has them, because starting a hooks thread is slow. */
async function installHooks(): Promise<void> {
  // tsx or vitest already load TypeScript and resolve `crawlnode`.
  if (isSource) return;
  // The hooks are told which modules are loaded already.
  await Promise.allSettled(attempts);
  const crawlnode = builtFile('index.js');
  const data: HooksData = { crawlnode, typescriptFolder, standalone };
  if (registerHooks) {
    initialize(data);
    registerHooks({ resolve, load: loadHook });
  } else {
    // Every spider imports it, and it loads faster without the hooks thread.
    await import(crawlnode);
    module.register(builtFile('module-hooks.js'), { data });
  }
  // Stack traces then show the lines of the TypeScript source.
  process.setSourceMapsEnabled(true);
}
